// SPDX-License-Identifier: BSD-3-Clause
// What programs that train loosely are told on their command line.
#pragma once

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <system_error>

#include "host/training/gradient_exchange.h"

namespace example {

using tributary::GradientExchangeOptions;
using tributary::Stale;
using tributary::Synchrony;

[[noreturn]] inline void refuse(const std::string& why) {
  std::cerr << why << '\n';
  std::exit(2);
}

// Ends the process where the text is not a number from `least` to `most`.
template <typename Number>
Number number_from(const std::string& name, const std::string& text, Number least, Number most) {
  Number number{};
  const auto* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || !(number >= least && number <= most)) {
    std::cerr << name << " is to be a number from " << least << " to " << most << ", not '" << text
              << "'\n";
    std::exit(2);
  }
  return number;
}

// More is meant by nobody, and none of these overflows a sum of times.
inline std::uint32_t count_from(const std::string& name, const std::string& text) {
  return number_from<std::uint32_t>(name, text, 0, 1'000'000'000);
}
inline double amount_from(const std::string& name, const std::string& text) {
  return number_from<double>(name, text, 0, 1e6);
}

// "bsp", "ssp", "asp", or "drop", which is ssp that drops what is stale; no value for other words.
inline std::optional<GradientExchangeOptions> exchange_from(const std::string& word) {
  GradientExchangeOptions options;
  options.stale = word == "drop" ? Stale::drop : Stale::wait;
  if (word == "bsp") {
    options.synchrony = Synchrony::bsp;
  } else if (word == "asp") {
    options.synchrony = Synchrony::asp;
  } else if (word == "ssp" || word == "drop") {
    options.synchrony = Synchrony::ssp;
  } else {
    return std::nullopt;
  }
  return options;
}

}  // namespace example
