// SPDX-License-Identifier: BSD-3-Clause
#include "host/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <sstream>

#include "wire/quorum.h"

namespace tributary::host {
namespace {

// Returns the unit's length in seconds; 0 if there is no such unit.
double unit_seconds(std::string_view unit) {
  constexpr std::pair<std::string_view, double> units[] = {{"", 1},      {"ns", 1e-9}, {"us", 1e-6},
                                                           {"ms", 1e-3}, {"s", 1},     {"min", 60}};
  const auto* const found = std::find_if(std::begin(units), std::end(units),
                                         [&](const auto& each) { return each.first == unit; });
  return found == std::end(units) ? 0 : found->second;
}

}  // namespace

std::optional<std::uint32_t> number_of(std::string_view text) {
  std::uint32_t value = 0;
  const auto* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc{} && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

std::optional<std::chrono::nanoseconds> duration_of(const std::string& text) {
  char* unit = nullptr;
  const double count = std::strtod(text.c_str(), &unit);
  const double seconds = count * unit_seconds(unit);
  constexpr double seconds_min = 1e-9;
  constexpr double seconds_max = 1e8;
  if (!(seconds >= seconds_min) || seconds > seconds_max) {
    return std::nullopt;
  }
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

std::optional<double> share_of(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' && value >= wire::quorum_share_least && value <= 1 ? std::optional(value)
                                                                         : std::nullopt;
}

std::optional<bool> switch_of(std::string_view text) {
  if (text == "on" || text == "1") {
    return true;
  }
  return text == "off" || text == "0" ? std::optional(false) : std::nullopt;
}

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> entries;
  std::istringstream rest(text);
  for (std::string entry; std::getline(rest, entry, ',');) {
    entries.push_back(entry);
  }
  return entries;
}

std::string a_number(std::uint32_t least, std::uint32_t most) {
  return "a number from " + std::to_string(least) + " to " + std::to_string(most);
}

std::string listed(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string seconds_text(std::chrono::nanoseconds duration) {
  const auto whole = std::chrono::round<std::chrono::milliseconds>(duration);
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.12g s", std::chrono::duration<double>(whole).count());
  return text.data();
}

std::string milliseconds_text(std::chrono::nanoseconds duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3f ms",
                std::chrono::duration<double, std::milli>(duration).count());
  return text.data();
}

std::string size_text(std::size_t bytes) {
  constexpr std::array<const char*, 5> units = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.size(); bytes /= 1024) {
    ++unit;
  }
  return std::to_string(bytes) + " " + units[unit];
}

std::string rank_text(std::uint32_t rank) {
  return "rank " + std::to_string(rank);
}

std::string ranks_text(const std::vector<std::uint32_t>& ranks) {
  std::string text = ranks.size() == 1 ? "rank " : "ranks ";
  for (std::size_t i = 0; i < ranks.size() && i < ranks_shown_max; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(ranks[i]);
  }
  return ranks.size() > ranks_shown_max ? text + " and more" : text;
}

std::string different_handlers(wire::Operator op) {
  return "ranks and switches have different handlers under number " +
         std::to_string(wire::handler_number(op)) +
         ", or a switch has none; 'tributaryctl handler list' shows those of a switch, and what "
         "differs has another mark";
}

tl::unexpected<Error> misread(const std::string& variable, const std::string& text,
                              const std::string& wanted) {
  return invalid(variable + "=" + text + " is not " + wanted);
}

}  // namespace tributary::host
