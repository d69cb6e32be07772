// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/config.h"
#include "port_spec.h"
#include "protocols/canary/traffic/traffic.h"
#include "protocols/netreduce/traffic/traffic.h"
#include "protocols/panama/traffic/traffic.h"
#include "traffic/plain_traffic.h"
#include "traffic/session.h"

namespace tributary::pktgen {

enum class Mode : std::uint8_t { run, ndr, pdr, pcap };
enum class Kind : std::uint8_t { plain, canary, panama, netreduce };

struct Options {
  Mode mode = Mode::run;
  Kind kind = Kind::plain;

  std::vector<PortSpec> ports;
  std::uint16_t mtu = 1500;
  unsigned core = 0;
  std::uint32_t buffers = 0;
  control::IdlePolicy idle = control::IdlePolicy::adaptive;
  control::Hugepages hugepages = control::Hugepages::automatic;
  std::string log_level;

  traffic::SessionPlan session;
  std::optional<traffic::PlainPlan> plain;
  std::string sizes;  // of plain frames, as they were given
  canary::TrafficPlan canary;
  panama::TrafficPlan panama;
  netreduce::TrafficPlan netreduce;

  std::string json;  // file, "-" for standard output; empty: none
  std::string csv;
  std::chrono::milliseconds interval{1000};
  bool quiet = false;
  bool send_only = false;  // nothing has to come back

  // Of mode pcap.
  std::string pcap_file;
  std::uint64_t pcap_packets = 0;  // plain frames
  std::uint32_t pcap_blocks = 0;
  std::uint32_t pcap_collectives = 0;
  std::uint32_t pcap_messages = 0;
  std::optional<wire::Ipv4Address> pcap_switch;  // to which results go
  std::uint16_t pcap_cores = 1;                  // of the switch, with a file for each

  std::vector<traffic::StationRange> station_ranges() const;
};

// The options, or the exit code with which to end (after a message, or after --help).
struct Parsed {
  std::optional<Options> options;
  int exit_code = 0;
};
Parsed parse(int argc, char** argv);

}  // namespace tributary::pktgen
