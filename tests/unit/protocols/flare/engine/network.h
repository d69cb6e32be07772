// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <utility>
#include <vector>

#include "two_levels.h"

namespace tributary::flare {

// A rank of a job that behaves as hosts should, with values that differ by sender and block.
struct Rank {
  TreeConfig tree;  // of the rank's switch
  std::uint16_t number = 0;
  std::uint64_t blocks = 0;  // of the run

  std::uint32_t run = 0;
  std::uint64_t next = 0;    // not sent yet
  std::uint64_t lowest = 0;  // without result
  std::set<std::uint64_t> results;
  Time idle_since{};
  Time starts{};

  bool done() const { return lowest == blocks; }
  std::int32_t value(std::uint64_t block, std::uint16_t of) const {
    return static_cast<std::int32_t>(run * 1'000'000 + block * 100 + of * 7u + 1);
  }
  std::int32_t sum(std::uint64_t block) const {
    std::int32_t sum = 0;
    for (std::uint16_t of = 0; of < tree.workers; ++of) {
      sum += value(block, of);
    }
    return sum;
  }
  std::uint64_t all_tags() const { return (1ull << tree.workers) - 1; }
};

// Ranks that reduce dense blocks, on cables that keep the order and may lose packets.
class Network : public TwoLevels {
 public:
  Network(std::uint32_t seed, double loss, bool reproducible)
      : TwoLevels(seed, {.loss = loss}, with(root_of(leaves), reproducible),
                  with(leaf_of(ranks_per_leaf, ranks_in_all), reproducible)) {
    for (std::uint16_t number = 0; number < ranks_in_all; ++number) {
      auto& rank = ranks.emplace_back();
      rank.tree = switches.back().config.trees.front();
      rank.number = number;
    }
  }

  // The ranks meet, and reduce so many blocks.
  void begin_run(std::uint32_t run, std::uint64_t blocks) {
    for (auto& rank : ranks) {
      rank.run = run;
      rank.blocks = blocks;
      rank.next = rank.lowest = 0;
      rank.results.clear();
      rank.starts = now + std::chrono::microseconds(random() % 300);
    }
  }
  bool done() const override {
    return std::all_of(ranks.begin(), ranks.end(), [](const auto& rank) { return rank.done(); });
  }

  std::vector<Rank> ranks;
  std::uint64_t wrong = 0;

 private:
  static TreeConfig with(TreeConfig tree, bool reproducible) {
    tree.reproducible = reproducible;
    return tree;
  }

  FlareSpec spec_of(std::size_t index, std::uint64_t block) {
    const auto& rank = ranks[index];
    auto spec = of_run(from(rank.tree, port_of(index), block), rank.run);
    spec.fingerprint = 1ull << rank.number;
    return spec;
  }
  void contribute(std::size_t index, std::uint64_t block, bool again, bool answer) {
    auto spec = spec_of(index, block);
    spec.retransmission = again;
    spec.answer = answer;
    const auto& rank = ranks[index];
    send(index, test::make_flare(pool, spec, Ints{rank.value(block, rank.number)}));
  }

  void drive(std::size_t index) override {
    auto& rank = ranks[index];
    if (rank.done() || now < rank.starts) {
      return;
    }
    const auto end = std::min(rank.blocks, rank.lowest + rank.tree.window);
    for (; rank.next < end; ++rank.next) {
      rank.idle_since = now;
      contribute(index, rank.next, false, false);
    }
    if (now - rank.idle_since > 10ms) {
      rank.idle_since = now;
      for (auto block = rank.lowest; block < rank.next; ++block) {
        if (!rank.results.contains(block)) {
          contribute(index, block, true, false);
        }
      }
    }
  }

  void receive(std::size_t index, Packet& packet) override {
    auto& rank = ranks[index];
    const auto frame = engine::parse_frame(packet);
    const auto view = wire::parse_flare(frame.payload);
    if (view.error != wire::FlareError::none || view.header->run.value() != rank.run) {
      return;
    }
    const auto& header = *view.header;
    const auto block = header.block.value();
    if (header.kind == FlareKind::inquiry) {
      return answer(index, block);
    }
    const bool known = block < rank.lowest || rank.results.contains(block);
    std::int32_t value = 0;
    std::memcpy(&value, view.payload.data(), sizeof value);
    wrong += value != rank.sum(block) || header.fingerprint.value() != rank.all_tags() ||
             header.kind != FlareKind::result || block >= rank.next;
    if (known) {
      return;
    }
    rank.idle_since = now;
    rank.results.insert(block);
    while (rank.results.contains(rank.lowest)) {
      ++rank.lowest;
    }
  }

  void answer(std::size_t index, std::uint64_t block) {
    const auto& rank = ranks[index];
    if (rank.results.contains(block)) {
      auto spec = as_result(spec_of(index, block), port_of(index));
      spec.answer = true;
      spec.fingerprint = rank.all_tags();
      send(index, test::make_flare(pool, spec, Ints{rank.sum(block)}));
    } else if (block < rank.next) {
      contribute(index, block, true, true);
    }
  }
};

}  // namespace tributary::flare
