// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "options.h"

namespace tributary::pktgen {

// This is what stands on the command line beside the options of the kind of traffic, before it
// means anything.
struct Raw {
  std::vector<std::string> ports;
  std::optional<unsigned> core;
  std::string idle = "adaptive";
  std::string hugepages = "auto";
  std::string line_rate;
  std::string rate = "unlimited";
  std::string duration = "10s";
  std::string warm_up = "0s";
  std::string settle = "300ms";  // tributaryd looks ten times a second whether a port has a link
  std::string drain = "2s";
  std::string interval = "1s";
  double precision = 1;  // percent
  double loss = 0.5;     // percent

  std::string address;
  std::string mac;
  std::string gateway_mac;
};

// This is the same for the command `feed`.
struct RawFeed {
  std::string duration = "10s";
  std::string warm_up = "1s";
};

// Puts what it means into `options`. Throws CLI::ValidationError, as below.
void interpret(const RawFeed& raw, FeedOptions& options);

// Puts what all of it means into `options`, whose mode and kind are set. Throws
// CLI::ValidationError.
void interpret(const Raw& raw, Options& options);

}  // namespace tributary::pktgen
