// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <random>
#include <vector>

namespace tributary::wire {

inline std::vector<std::byte> random_bytes(std::size_t n, std::mt19937& random) {
  std::vector<std::byte> bytes(n);
  for (auto& byte : bytes) {
    byte = static_cast<std::byte>(random());
  }
  return bytes;
}

}  // namespace tributary::wire
