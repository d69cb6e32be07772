// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>

namespace tributary::wire {

// How many ranks a sum needs is said as a share of them, from this one to 1: to hosts, and to the
// controller, which have to come to the same number.
inline constexpr double quorum_share_least = 0.0001;

// Returns how many ranks a share of them is, rounded up: 0.8 of 5 are 4, although 0.8 is not quite
// 0.8 in binary.
inline std::uint32_t quorum_of(double share, std::uint32_t ranks) {
  constexpr double rounding = 1e-9;
  return static_cast<std::uint32_t>(std::ceil(share * ranks - rounding));
}

}  // namespace tributary::wire
