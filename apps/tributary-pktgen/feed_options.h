// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "packet/clock.h"

namespace tributary::pktgen {

// These are the options of the command `feed`.
struct FeedOptions {
  std::string config;            // a file of tributaryd
  std::optional<unsigned> core;  // CPU of the feeder
  std::uint32_t descriptors = 512;
  Duration warm_up{};
  Duration duration{};
  std::string json;  // file, "-" for standard output; empty: none
  std::string log_level = "warning";
};

}  // namespace tributary::pktgen
