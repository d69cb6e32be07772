// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "wire/key.h"
#include "wire/spread.h"

namespace tributary::engine {

// Blocks are spread over cores by wire::spread() of the UDP source port that is derived from their
// key, so that the RSS of a network card comes to the same core (dataplane/rss.h). Cores have
// consecutive ranges of the spread ports, so that a card that sees the highest bits only is right
// but for the few ports at the borders.
constexpr unsigned core_of_spread(std::uint16_t spread_port, unsigned cores) {
  return static_cast<unsigned>((std::uint64_t{spread_port} * cores) >> 16);
}

// Returns the core that owns the blocks of this aggregation key.
constexpr unsigned owner_of(std::uint64_t key, unsigned cores) {
  return core_of_spread(wire::spread(wire::source_port_of(key)), cores);
}

}  // namespace tributary::engine
