// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tributary::bench {

// What stands on command lines; both throw CLI::ValidationError.
std::size_t bytes_of(const std::string& text);   // "4K", "4KiB", "16M": powers of 1024
std::uint64_t rate_of(const std::string& text);  // "200Mbit": powers of 1000, bits per second

inline std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace tributary::bench
