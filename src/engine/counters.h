// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace tributary::engine {

// One of the counters that an engine has of each tree, said once: its name, and whether it is told
// of each tree, too, or of all of them together alone.
template <typename Counters>
struct Counter {
  std::uint64_t Counters::*member;
  std::string_view name;
  bool of_tree = false;
};

template <typename Counters, std::size_t count>
void add_counters(Counters& sums, const Counters& more, const Counter<Counters> (&table)[count]) {
  for (const auto& counter : table) {
    sums.*counter.member += more.*counter.member;
  }
}

// Puts them behind other figures: of all trees, or of one.
enum class CountersOf : bool { tree, all };
template <typename Counters, std::size_t count>
void append_counters(std::vector<Figure>& figures, const Counters& counters,
                     const Counter<Counters> (&table)[count], CountersOf of) {
  for (const auto& counter : table) {
    if (of == CountersOf::all || counter.of_tree) {
      figures.push_back({counter.name, counters.*counter.member});
    }
  }
}

}  // namespace tributary::engine
