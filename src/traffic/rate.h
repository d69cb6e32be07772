// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

namespace tributary::traffic {

// A Rate is how fast the generator sends of its own accord, all ports together. Answers are not
// held back.
struct Rate {
  enum class Unit : std::uint8_t { unlimited, packets, line_bits };
  Unit unit = Unit::unlimited;
  double per_second = 0;  // of the unit

  bool is_unlimited() const { return unit == Unit::unlimited; }
};

// Parses "unlimited", "200kpps", "1.5Mpps", "10Gbit" (on the line, all overhead counted) and "50%"
// (of `line_rate_bps`; 0: not known). The error says what is wrong with the text.
tl::expected<Rate, std::string> parse_rate(const std::string& text, double line_rate_bps);
// Parses a text such as "10Gbit" to bits per second.
tl::expected<double, std::string> parse_line_rate(const std::string& text);

std::string to_string(const Rate& rate);

}  // namespace tributary::traffic
