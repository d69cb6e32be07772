// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include <tl/expected.hpp>

#include "control/config.h"
#include "traffic/stations.h"

namespace tributary::pktgen {

// A PortSpec is a port of the generator, as it stands on the command line.
struct PortSpec {
  control::DeviceConfig device;
  traffic::StationRange stations;
};

// Returns the hosts behind port number `number` unless others are named: they are far enough from
// those of other ports for a quarter of a million hosts each.
traffic::StationRange default_stations(std::size_t number);

// Gives the first of the hosts this address, of either version. The error says what is wrong with
// it.
control::Outcome set_address(const std::string& text, traffic::StationRange& stations);

// Parses "KIND=WHAT[,KEY=VALUE...]" for port number `number`, which decides the default addresses.
// The error says what is wrong and what would be right.
tl::expected<PortSpec, std::string> parse_port(const std::string& text, std::size_t number);

// --help shows this text.
extern const char* const port_help;

}  // namespace tributary::pktgen
