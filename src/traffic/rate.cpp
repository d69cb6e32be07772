// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/rate.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tributary::traffic {
namespace {

using Unit = Rate::Unit;

struct Suffix {
  std::string_view text;
  Unit unit;
  double factor;
};
constexpr std::array<Suffix, 7> suffixes = {{{"pps", Unit::packets, 1},
                                             {"kpps", Unit::packets, 1e3},
                                             {"Mpps", Unit::packets, 1e6},
                                             {"kbit", Unit::line_bits, 1e3},
                                             {"Mbit", Unit::line_bits, 1e6},
                                             {"Gbit", Unit::line_bits, 1e9},
                                             {"bit", Unit::line_bits, 1}}};

constexpr double per_second_max = 1e13;

// Returns the number that `text` starts with, and in `rest` what follows it; NaN if there is none.
double number_of(const std::string& text, std::string_view& rest) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  rest = std::string_view(end);
  const bool starts_well = !text.empty() && text[0] >= '0' && text[0] <= '9';
  return starts_well && value > 0 && value <= per_second_max ? value : std::nan("");
}

tl::unexpected<std::string> refuse(const std::string& text) {
  return tl::unexpected("\"" + text +
                        "\" is not a rate; say 200kpps, 1.5Mpps, 800Mbit, 10Gbit, 50% or "
                        "unlimited");
}

}  // namespace

tl::expected<Rate, std::string> parse_rate(const std::string& text, double line_rate_bps) {
  if (text == "unlimited") {
    return Rate{};
  }
  std::string_view rest;
  const double value = number_of(text, rest);
  if (std::isnan(value)) {
    return refuse(text);
  }
  if (rest == "%") {
    if (line_rate_bps <= 0) {
      return tl::unexpected("a rate of " + text + " needs --line-rate, as in --line-rate 10Gbit");
    }
    if (value > 100) {
      return tl::unexpected("a line carries no more than 100% of its rate, not " + text);
    }
    return Rate{Unit::line_bits, line_rate_bps * value / 100};
  }
  for (const auto& suffix : suffixes) {
    if (rest == suffix.text) {
      return Rate{suffix.unit, value * suffix.factor};
    }
  }
  return refuse(text);
}

tl::expected<double, std::string> parse_line_rate(const std::string& text) {
  const auto rate = parse_rate(text, 0);
  if (!rate || rate->unit != Unit::line_bits) {
    return tl::unexpected("\"" + text + "\" is not the rate of a line; say 200Mbit or 10Gbit");
  }
  return rate->per_second;
}

std::string to_string(const Rate& rate) {
  if (rate.is_unlimited()) {
    return "unlimited";
  }
  const bool packets = rate.unit == Unit::packets;
  double value = rate.per_second;
  std::string_view prefix;
  for (const std::string_view next : {"k", "M", "G"}) {
    if (value < 1000 || (packets && prefix == "M")) {
      break;
    }
    value /= 1000;
    prefix = next;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.4g%.*s%s", value, static_cast<int>(prefix.size()),
                prefix.data(), packets ? "pps" : "bit");
  return text.data();
}

}  // namespace tributary::traffic
