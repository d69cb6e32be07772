// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace tributary::engine {

// A Counter describes one of the counters that an engine has for each tree: its name, and whether
// operators see it for each tree as well as for all of them together.
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

// append_counters() puts the counters of one tree, or the sums over all trees, behind other
// figures.
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
