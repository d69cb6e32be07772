// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "wire/key.h"

namespace tributary::wire {

// A network card makes this of a source port (dataplane/rss.h): the port is added, modulo 2, to
// itself rotated, which is a Toeplitz hash under a key that repeats every 16 bits.
inline constexpr std::array<unsigned, 5> spread_rotations = {0, 3, 7, 8, 12};

constexpr std::uint16_t spread(std::uint16_t port) {
  std::uint16_t sum = 0;
  for (const auto rotation : spread_rotations) {
    sum = static_cast<std::uint16_t>(sum ^ std::rotl(port, static_cast<int>(rotation)));
  }
  return sum;
}

// A host sends from a port for each value of the highest bits of spread(). With up to so many
// cores, if they are a power of two, what it sends comes to the core that the derived port names.
inline constexpr unsigned flow_bits = 6;
inline constexpr unsigned flow_count = 1u << flow_bits;
constexpr unsigned flow_of_port(std::uint16_t port) {
  return static_cast<unsigned>(spread(port)) >> (16 - flow_bits);
}
constexpr unsigned flow_of(std::uint64_t key) {
  return flow_of_port(source_port_of(key));
}

}  // namespace tributary::wire
