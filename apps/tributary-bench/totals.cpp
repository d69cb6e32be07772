// SPDX-License-Identifier: BSD-3-Clause
#include "totals.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <utility>

namespace tributary::bench {
namespace {

constexpr std::size_t title_width = 21;
constexpr std::size_t line_width = 100;

std::array<const Figures*, 2> parts_of(const CommunicatorStatistics& of) {
  return {&of.general, &of.carried.figures};
}

// Returns an empty text for a figure that is not worth a word.
std::string text_of(const Figure& figure) {
  if (const auto* count = std::get_if<std::uint64_t>(&figure.value)) {
    return *count == 0 ? "" : std::to_string(*count);
  }
  if (const auto* real = std::get_if<double>(&figure.value)) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.6g", *real);
    return *real == 0 ? "" : text.data();
  }
  return std::get<std::string>(figure.value);
}

void add_lines(std::vector<std::string>& lines, std::string title, const Figures& figures) {
  title.resize(std::max(title.size(), title_width), ' ');
  auto line = title + ":";
  bool is_first = true;
  for (const auto& figure : figures) {
    const auto value = text_of(figure);
    if (value.empty()) {
      continue;
    }
    const auto text = figure.name + " " + value;
    line += is_first ? "" : ",";
    is_first = false;
    if (line.size() + 1 + text.size() > line_width) {
      lines.push_back(std::move(line));
      line = std::string(title_width + 1, ' ');
    }
    line += " " + text;
  }
  if (!is_first) {
    lines.push_back(std::move(line));
  }
}

}  // namespace

std::vector<std::int64_t> numbers_of(const CommunicatorStatistics& of, Merge merge) {
  std::vector<std::int64_t> numbers;
  for (const auto* part : parts_of(of)) {
    for (const auto& figure : *part) {
      const auto* const number = std::get_if<std::uint64_t>(&figure.value);
      if (number != nullptr && figure.merge == merge) {
        numbers.push_back(static_cast<std::int64_t>(*number));
      }
    }
  }
  return numbers;
}

Totals totals_of(CommunicatorStatistics own, std::span<const std::int64_t> sums,
                 std::span<const std::int64_t> least) {
  std::vector<Figure> all_ranks;
  auto sum = sums.begin();
  auto lowest = least.begin();
  for (const auto* part : parts_of(own)) {
    for (auto figure : *part) {
      if (std::holds_alternative<std::string>(figure.value) && figure.merge != Merge::same) {
        continue;  // texts of several ranks do not add up
      }
      if (auto* const number = std::get_if<std::uint64_t>(&figure.value);
          number != nullptr && figure.merge != Merge::same) {
        *number = static_cast<std::uint64_t>(figure.merge == Merge::sum ? *sum++ : *lowest++);
      }
      all_ranks.push_back(std::move(figure));
    }
  }
  return {Figures(std::move(all_ranks)), std::move(own.carried)};
}

std::vector<std::string> lines_of(const Totals& totals) {
  std::vector<std::string> lines;
  add_lines(lines, "Figures, all ranks", totals.all_ranks);
  for (std::size_t i = 0; i < totals.own.trees.size(); ++i) {
    add_lines(lines, "Tree " + std::to_string(i) + ", rank 0", totals.own.trees[i]);
  }
  return lines;
}

}  // namespace tributary::bench
