// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

#include "sparse_elements.h"
#include "two_levels.h"

namespace tributary::flare {

// A packet that a rank sends, or keeps of a result.
struct SparsePacket {
  test::FlareSparseSpec spec;
  Bytes payload;
};

// The contributions of ranks, from which anyone can compute the result: blocks without elements,
// with a few, with many, and with nearly all.
class SparseContents {
 public:
  static constexpr std::uint16_t full = wire::flare_full_min;
  static constexpr wire::FlareSparseShape shape{sizeof(std::int32_t), full};

  static std::uint16_t span(std::uint64_t block) { return block % 5 == 4 ? 100 : 512; }

  static Ints elements(std::uint32_t run, std::uint64_t block, std::uint16_t rank) {
    constexpr unsigned per_mille[] = {0, 15, 60, 200, 900};
    std::mt19937 random(run * 100'000 + static_cast<std::uint32_t>(block) * 64 + rank);
    const auto density = per_mille[(block / 2 + (block % 7 == 0 ? rank : 0)) % 5];
    Ints elements(span(block));
    for (auto& element : elements) {
      element = random() % 1000 < density ? static_cast<std::int32_t>(random() % 2001) - 1000 : 0;
    }
    return elements;
  }
  static Ints sum(std::uint32_t run, std::uint64_t block) {
    Ints sum(span(block));
    for (std::uint16_t rank = 0; rank < TwoLevels::ranks_in_all; ++rank) {
      const auto part = elements(run, block, rank);
      std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus<>());
    }
    return sum;
  }

  // The payloads of a contribution, as hosts divide it.
  static std::vector<std::pair<std::optional<std::uint16_t>, Bytes>> shards(const Ints& elements) {
    std::vector<std::pair<std::optional<std::uint16_t>, Bytes>> all;
    const auto present =
        elements.size() - static_cast<std::size_t>(std::count(elements.begin(), elements.end(), 0));
    if (!shape.prefers_pairs(present, elements.size())) {
      for (std::size_t first = 0; first < elements.size(); first += shape.elements_per_run()) {
        const auto end = std::min(first + shape.elements_per_run(), elements.size());
        all.emplace_back(first,
                         bytes_of(Ints(elements.begin() + static_cast<std::ptrdiff_t>(first),
                                       elements.begin() + static_cast<std::ptrdiff_t>(end))));
      }
      return all;
    }
    Pairs pairs;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (pairs.size() == shape.pairs_per_shard()) {
        all.emplace_back(std::nullopt, bytes_of(std::exchange(pairs, {})));
      }
      if (elements[i] != 0) {
        pairs.emplace_back(static_cast<std::uint16_t>(i), elements[i]);
      }
    }
    if (!pairs.empty() || all.empty()) {
      all.emplace_back(std::nullopt, bytes_of(pairs));
    }
    return all;
  }
};

// Ranks that reduce sparse blocks, as hosts should.
class SparseNetwork : public TwoLevels {
 public:
  static constexpr std::uint32_t window = 4;

  SparseNetwork(std::uint32_t seed, const Disturbance& disturbance)
      : TwoLevels(seed, disturbance, sparse(root_of(leaves)),
                  sparse(leaf_of(ranks_per_leaf, ranks_in_all))),
        ranks_(ranks_in_all) {}

  void begin_run(std::uint32_t run, std::uint64_t blocks) {
    run_ = run;
    blocks_ = blocks;
    for (auto& rank : ranks_) {
      rank = {};
      rank.starts = now + std::chrono::microseconds(random() % 300);
    }
  }
  bool done() const override {
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [&](const auto& rank) { return rank.lowest == blocks_; });
  }
  std::uint64_t figure(std::size_t at, std::string_view name) const {
    return switches[at].harness->figure(name);
  }

  std::uint64_t wrong = 0;

 private:
  struct Result {
    std::uint64_t edition = 0;
    std::uint8_t shards = 0;
    std::map<std::uint8_t, SparsePacket> parts;

    bool is_complete() const { return shards != 0 && parts.size() == shards; }
  };
  struct SparseRank {
    std::uint64_t next = 0;    // not sent yet
    std::uint64_t lowest = 0;  // without result
    std::map<std::uint64_t, Result> results;
    Time idle_since{};
    Time starts{};
  };

  static TreeConfig sparse(TreeConfig tree) {
    tree.sparse_window = window;
    return tree;
  }
  static constexpr std::uint64_t all_tags = (1ull << ranks_in_all) - 1;

  test::FlareSparseSpec spec_of(std::size_t rank, std::uint64_t block) const {
    test::FlareSparseSpec spec;
    static_cast<FlareSpec&>(spec) =
        of_run(from(switches.back().config.trees[0], port_of(rank), block), run_);
    spec.window = window;
    spec.span = SparseContents::span(block);
    spec.full = SparseContents::full;
    return spec;
  }
  void contribute(std::size_t rank, std::uint64_t block, bool again, bool answer) {
    const auto number = static_cast<std::uint16_t>(rank);
    const auto shards = SparseContents::shards(SparseContents::elements(run_, block, number));
    std::uint64_t left = 1ull << rank;
    for (std::size_t i = 0; i < shards.size(); ++i) {
      auto spec = spec_of(rank, block);
      const bool is_last = i + 1 == shards.size();
      spec.retransmission = again;
      spec.answer = answer;
      spec.shard = static_cast<std::uint8_t>(i);
      spec.shards = is_last ? static_cast<std::uint8_t>(shards.size()) : 0;
      spec.contributions = is_last ? 1 : 0;
      spec.fingerprint = is_last ? left : wire::mix_key(block * 64 + i, rank);
      left -= spec.fingerprint;
      spec.form = shards[i].first ? wire::FlareForm::run : wire::FlareForm::pairs;
      spec.first = shards[i].first.value_or(0);
      send(rank, test::make_flare_sparse(pool, spec, shards[i].second));
    }
  }

  void drive(std::size_t index) override {
    auto& rank = ranks_[index];
    if (rank.lowest == blocks_ || now < rank.starts) {
      return;
    }
    for (const auto end = std::min(blocks_, rank.lowest + window); rank.next < end; ++rank.next) {
      rank.idle_since = now;
      contribute(index, rank.next, false, false);
    }
    if (now - rank.idle_since > 10ms) {
      rank.idle_since = now;
      for (auto block = rank.lowest; block < rank.next; ++block) {
        if (!rank.results[block].is_complete()) {
          contribute(index, block, true, false);
        }
      }
    }
  }

  void receive(std::size_t index, Packet& packet) override {
    const auto frame = engine::parse_frame(packet);
    const auto view = wire::parse_flare_sparse(frame.payload);
    wrong += view.error != wire::FlareError::none;
    if (view.error != wire::FlareError::none || view.header->run.value() != run_) {
      return;
    }
    const auto block = view.header->block.value();
    if (view.header->kind == FlareKind::inquiry) {
      return answer(index, block);
    }
    auto& rank = ranks_[index];
    wrong += view.header->fingerprint.value() != all_tags ||
             view.header->kind != FlareKind::result || block >= rank.next;
    auto& result = rank.results[block];
    if (!result.is_complete()) {
      rank.idle_since = now;
      take(index, result, view);
    }
    while (rank.results[rank.lowest].is_complete()) {
      ++rank.lowest;
    }
  }

  void take(std::size_t index, Result& result, const wire::FlareSparseView& view) {
    const auto& header = *view.header;
    if (header.edition.value() != result.edition) {
      result = {header.edition.value(), header.shards, {}};
    }
    auto spec = spec_of(index, header.block.value());
    static_cast<FlareSpec&>(spec) = as_result(spec, spec.ingress);
    spec.answer = true;
    spec.fingerprint = header.fingerprint.value();
    spec.edition = result.edition;
    spec.form = header.form;
    spec.first = header.first.value();
    spec.shard = header.shard;
    spec.shards = header.shards;
    result.parts[header.shard] = {spec, {view.payload.begin(), view.payload.end()}};
    if (result.is_complete()) {
      check(header.block.value(), result);
    }
  }

  // Checks that every element occurs at most once, in the right order, with the right value.
  void check(std::uint64_t block, const Result& result) {
    Ints sum(SparseContents::span(block));
    std::size_t next = 0;  // offset
    for (const auto& [shard, part] : result.parts) {
      const bool is_run = part.spec.form == wire::FlareForm::run;
      wrong += is_run && part.spec.first != next;
      next += is_run ? part.payload.size() / sizeof(std::int32_t) : 0;
      constexpr auto pair_bytes = SparseContents::shape.pair_bytes();
      for (std::size_t at = 0; !is_run && at < part.payload.size(); at += pair_bytes) {
        const auto offset = wire::flare_offset_at(part.payload.data() + at);
        wrong += offset < next;
        next = offset + 1u;
      }
      add_shard(sum, part.spec.form, part.spec.first, part.payload);
    }
    wrong += sum != SparseContents::sum(run_, block);
  }

  void answer(std::size_t index, std::uint64_t block) {
    auto& rank = ranks_[index];
    if (const auto found = rank.results.find(block);
        found != rank.results.end() && found->second.is_complete()) {
      for (const auto& [shard, part] : found->second.parts) {
        send(index, test::make_flare_sparse(pool, part.spec, part.payload));
      }
    } else if (block < rank.next) {
      contribute(index, block, true, true);
    }
  }

  std::vector<SparseRank> ranks_;
  std::uint32_t run_ = 0;
  std::uint64_t blocks_ = 0;
};

}  // namespace tributary::flare
