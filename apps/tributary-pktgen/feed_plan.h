// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/config.h"
#include "feed_options.h"

namespace tributary::pktgen {

// A FeedQueue is what comes by one queue of a port.
struct FeedQueue {
  std::string switch_name;
  std::string port;
  std::string device;  // in DPDK
  std::uint16_t queue = 0;
  std::string file;
  std::uint32_t frame_bytes_max = 0;
};

struct FeedPlan {
  control::DaemonConfig config;  // its ports with an endless pcap have devices that can be fed
  std::vector<FeedQueue> queues;
  unsigned core = 0;  // CPU of the feeder
};

// Plans with the CPUs `allowed` only. The error says what to do.
tl::expected<FeedPlan, std::string> plan_feed(control::DaemonConfig config,
                                              const FeedOptions& options,
                                              const std::vector<unsigned>& allowed);

}  // namespace tributary::pktgen
