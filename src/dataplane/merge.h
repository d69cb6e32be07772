// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/status.h"
#include "forwarding/port_counters.h"

namespace tributary::dataplane {

inline std::uint64_t merge(std::uint64_t a, std::uint64_t b, engine::Merge how) {
  switch (how) {
    case engine::Merge::sum:
      return a + b;
    case engine::Merge::maximum:
      return std::max(a, b);
    case engine::Merge::minimum:
      return std::min(a, b);
  }
  return a;
}

// Takes from what a port sent what its interface has dropped of it since, or of what others were to
// send by it; but not from what was told as sent before, as a counter never falls.
inline void take_off_unsent(forwarding::PortCounters& counters, std::uint64_t unsent,
                            std::uint64_t& told) {
  const auto all = counters.tx_packets;
  told = std::max(told, all - std::min(unsent, all));
  counters.tx_packets = std::min(told, all);
  counters.tx_device_dropped += all - counters.tx_packets;
}

// Adds what one core says to the figures of the switch.
inline void merge_figure(std::vector<std::pair<std::string, std::uint64_t>>& figures,
                         const engine::Figure& figure) {
  const auto known = std::find_if(figures.begin(), figures.end(),
                                  [&](const auto& pair) { return pair.first == figure.name; });
  if (known == figures.end()) {
    figures.emplace_back(figure.name, figure.value);
  } else {
    known->second = merge(known->second, figure.value, figure.merge);
  }
}

// Adds what another core says of a tree. One that has heard nobody of the tree knows nothing of it;
// what several have heard is all of this tree, of different blocks.
inline void merge_tree(engine::TreeStatus& all, const engine::TreeStatus& more) {
  if (!more.used) {
    return;
  }
  if (!all.used) {
    all = more;
    return;
  }
  all.active |= more.active;
  all.used = std::max(all.used, more.used);
  for (const auto& figure : more.figures) {
    const auto known =
        std::find_if(all.figures.begin(), all.figures.end(),
                     [&](const engine::Figure& one) { return one.name == figure.name; });
    if (known != all.figures.end()) {
      known->value = merge(known->value, figure.value, figure.merge);
    }
  }
}

// Every core has learned for itself, so of two entries for one key the better is kept.
template <typename Key, typename Row, typename Better>
void keep_better(std::map<Key, Row>& rows, const Key& key, const Row& row, Better better) {
  const auto [position, inserted] = rows.emplace(key, row);
  if (!inserted && better(row, position->second)) {
    position->second = row;
  }
}

// Blocks that wait are listed once: by switch, engine, job, tree, whether it is sparse, and number.
using StallKey =
    std::tuple<std::size_t, std::string, std::uint32_t, wire::Ipv4Address, bool, std::uint32_t>;
using Stalls = std::map<StallKey, engine::StallStatus>;

// Attempts at one block may belong to different cores: the one that tells more is kept.
inline void merge_stall(Stalls& stalls, std::size_t switch_index, const std::string& engine,
                        const engine::StallStatus& stall) {
  const StallKey key{switch_index, engine, stall.job, stall.group, stall.sparse, stall.block};
  keep_better(stalls, key, stall, [](const engine::StallStatus& a, const engine::StallStatus& b) {
    return std::make_tuple(a.missing.empty(), b.attempt) <
           std::make_tuple(b.missing.empty(), a.attempt);
  });
}

}  // namespace tributary::dataplane
