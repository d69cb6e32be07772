// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/backend.h"
#include "dataplane/feed.h"

namespace tributary::pktgen {

// A FeedReading tells where a switch and its feed stand at one moment.
struct FeedReading {
  double seconds = 0;      // of some clock
  double cpu_seconds = 0;  // of the packet cores
  dataplane::Feed::Counters feed;
  std::vector<control::EngineStatus> engines;
  std::vector<control::SwitchStatus> switches;
  std::vector<control::PortStatus> ports;
  control::DaemonStatus daemon;
};

// A FeedResult is what a switch did between two readings.
struct FeedResult {
  struct Count {
    std::string where;  // "s canary", "s received": a switch and its engine, or a kind of loss
    std::string name;
    std::uint64_t number = 0;  // in a result: by how much it grew
  };

  double seconds = 0;
  double cpu_seconds = 0;
  double tsc_hz = 0;
  std::uint64_t packets = 0;  // received
  double waited_seconds = 0;  // the part of the CPU time for which cores waited for the feeder
  std::uint64_t bursts_without_buffers = 0;
  std::vector<Count> figures;  // those of the engines that grew
  std::vector<Count> drops;    // why packets were dropped, and how many

  // The time for which the switch waited for the feeder is not counted.
  double cycles_per_packet() const;
};

FeedResult gain(const FeedReading& before, const FeedReading& after);

std::string text_of(const FeedResult& result);
std::string json_of(const FeedResult& result);

}  // namespace tributary::pktgen
