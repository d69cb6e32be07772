// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary::wire {

// Mixes a key and a seed into 64 well-spread bits, which choose descriptor index, owning core and
// up-port.
constexpr std::uint64_t mix_key(std::uint64_t key, std::uint64_t seed) {
  std::uint64_t x = key ^ seed;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

// Returns the UDP source port of everything that concerns one key, so that a NIC's RSS (and ECMP of
// ordinary switches) keeps a block together.
constexpr std::uint16_t source_port_of(std::uint64_t key) {
  return static_cast<std::uint16_t>(0xc000u | (mix_key(key, 0) & 0x3fffu));
}

}  // namespace tributary::wire
