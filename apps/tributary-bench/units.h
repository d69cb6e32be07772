// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include <CLI/CLI.hpp>

namespace tributary::bench {

// Takes "4096", "4K", "4KiB" or "16M" as bytes: powers of 1024.
inline CLI::Option* as_size(CLI::Option* option) {
  constexpr std::uint64_t largest = std::uint64_t{1} << 40;
  return option->transform(CLI::AsSizeValue(false).description(""))
      ->check(CLI::Range(std::uint64_t{0}, largest).description(""));
}

// Takes "200Mbit" as bits per second: powers of 1000.
inline CLI::Option* as_rate(CLI::Option* option) {
  using Units = CLI::AsNumberWithUnit;
  const std::map<std::string, std::uint64_t> units = {
      {"kbit", 1000}, {"Mbit", 1000000}, {"Gbit", 1000000000}};
  return option->transform(Units(units, Units::UNIT_REQUIRED).description(""))
      ->check(CLI::PositiveNumber);
}

inline std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

}  // namespace tributary::bench
