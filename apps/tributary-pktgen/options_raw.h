// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options.h"

namespace tributary::pktgen {

inline constexpr std::uint32_t buffers_max = 4u << 20;

// What stands on the command line, before it means anything.
struct Raw {
  std::vector<std::string> ports;
  std::optional<unsigned> core;
  std::string idle = "adaptive";
  std::string hugepages = "auto";
  std::string line_rate;
  std::string rate = "unlimited";
  std::string duration = "10s";
  std::string warm_up = "0s";
  std::string drain = "2s";
  std::string interval = "1s";
  double precision = 1;  // percent
  double loss = 0.5;     // percent

  std::vector<std::string> paths;
  std::string size = "64";
  std::uint32_t flows = 1;
  std::uint32_t hosts = 1;
  std::uint16_t source_port = 1024;
  std::uint16_t destination_port = 9;

  std::optional<std::uint16_t> workers;
  std::vector<std::string> types = {"f32"};
  std::vector<std::string> operators = {"sum"};
  std::string encapsulation = "udp";
  std::string block_timeout = "1s";
  std::optional<std::uint32_t> first_job;
  std::string group = "239.192.0.1";

  std::string address;
  std::string mac;
  std::string gateway_mac;
  std::string pcap_switch;
};

// What it means, into `options`, whose mode and kind are set. Throws CLI::ValidationError.
void interpret(const Raw& raw, Options& options);

}  // namespace tributary::pktgen
