// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace tributary::engine {

// Tells whether a figure is the engine's, that of each of its trees alone, or both.
enum class Of : std::uint8_t { engine, tree, both };

// A FigureKind says once for all what a figure is: its name in the control protocol, what it
// counts ("packets"), and a line for the reference. Names of counters end in _total; other figures
// tell how things stand.
struct FigureKind {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
  Of of = Of::engine;
  Merge merge = Merge::sum;

  bool is_of(Of which) const { return of == which || of == Of::both; }
};

// A FigureOf says where the figure stands in a structure of Numbers. An engine's tables of these
// are all that is known of its figures.
template <typename Numbers>
struct FigureOf {
  std::uint64_t Numbers::*member;
  FigureKind kind;
};

template <typename Numbers, std::size_t count>
void add_numbers(Numbers& sums, const Numbers& more, const FigureOf<Numbers> (&table)[count]) {
  for (const auto& figure : table) {
    sums.*figure.member += more.*figure.member;
  }
}

// Puts the figures of an engine, or of a tree, behind others.
template <typename Numbers, std::size_t count>
void append_figures(std::vector<Figure>& figures, const Numbers& numbers,
                    const FigureOf<Numbers> (&table)[count], Of which) {
  for (const auto& [member, kind] : table) {
    if (kind.is_of(which)) {
      figures.push_back({kind.name, numbers.*member, kind.merge});
    }
  }
}

// Returns what the figures of all tables are, in their order.
template <typename... Tables>
std::vector<FigureKind> kinds_of(const Tables&... tables) {
  std::vector<FigureKind> kinds;
  const auto append = [&kinds](const auto& table) {
    for (const auto& figure : table) {
      kinds.push_back(figure.kind);
    }
  };
  (append(tables), ...);
  return kinds;
}

}  // namespace tributary::engine
