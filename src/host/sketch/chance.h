// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/key.h"

namespace tributary::host::sketch {

// Decides how the elements of one vector are rounded. Each element draws from it by its index alone
// (chance-inl.h), so that it is the same on every CPU, and in whatever pieces one goes through the
// vector.
struct Chance {
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  std::size_t passed = 0;  // elements of the vector are before those that draw
};

// Every bit of the result depends on all bits of `x` (SplitMix64).
constexpr std::uint64_t mixed(std::uint64_t x) {
  return wire::mix_key(x + 0x9e3779b97f4a7c15u, 0);
}

// Ranks that rounded alike would err alike, and nothing would come out even in their sum.
constexpr Chance chance_of(std::uint64_t seed, std::uint32_t rank, std::uint64_t round) {
  const auto key = mixed(mixed(mixed(seed) ^ rank) ^ round);
  return {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(key >> 32)};
}

}  // namespace tributary::host::sketch
