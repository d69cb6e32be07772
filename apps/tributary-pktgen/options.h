// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/config.h"
#include "feed_options.h"
#include "traffic/kind.h"
#include "traffic/session.h"

namespace tributary::pktgen {

struct Options {
  traffic::Conditions conditions;
  std::unique_ptr<traffic::TrafficKind> kind;  // with its own options

  std::vector<control::DeviceConfig> devices;  // of each port; none in mode pcap
  unsigned core = 0;
  std::uint32_t buffers = 0;
  control::IdlePolicy idle = control::IdlePolicy::adaptive;
  control::Hugepages hugepages = control::Hugepages::automatic;
  std::string log_level;

  traffic::SessionPlan session;

  std::string json;  // file, "-" for standard output; empty: none
  std::string csv;
  std::chrono::milliseconds interval{1000};
  Duration settle{};  // between the links' coming up and the first packet
  bool quiet = false;
  bool send_only = false;  // nothing has to come back

  std::string pcap_file;  // of mode pcap

  traffic::Mode mode() const { return conditions.mode; }
};

// Parsed has the options of one command, or the exit code with which to end (after a message, or
// after --help).
struct Parsed {
  std::optional<Options> options;
  std::optional<FeedOptions> feed;
  int exit_code = 0;
};
Parsed parse(int argc, char** argv);

}  // namespace tributary::pktgen
