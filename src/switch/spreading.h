// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace tributary::switching {

// How blocks are spread over cores: by the UDP source port that is derived from their key, and so
// that the RSS of a network card comes to the same core (dataplane/rss.h). The port is added,
// modulo 2, to itself rotated: a Toeplitz hash under a key that repeats every 16 bits. Cores have
// consecutive ranges of the spread ports, so that a card that sees the highest bits only is right
// but for the few ports at the borders.
inline constexpr std::array<unsigned, 5> spread_rotations = {0, 3, 7, 8, 12};

constexpr std::uint16_t spread(std::uint16_t port) {
  std::uint16_t sum = 0;
  for (const auto rotation : spread_rotations) {
    sum = static_cast<std::uint16_t>(sum ^ std::rotl(port, static_cast<int>(rotation)));
  }
  return sum;
}

constexpr unsigned core_of_spread(std::uint16_t spread_port, unsigned cores) {
  return static_cast<unsigned>((std::uint64_t{spread_port} * cores) >> 16);
}

}  // namespace tributary::switching
