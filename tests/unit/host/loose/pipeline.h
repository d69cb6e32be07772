// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "host/loose/colayers.h"
#include "host/loose/rounds.h"

namespace tributary::host::test {

// What is simulated; times are in nanoseconds.
struct Model {
  std::vector<std::size_t> elements;  // of each layer
  std::int64_t compute = 0;           // of a layer's gradient
  std::int64_t words = 0;             // what ranks tell each other in a round takes
  std::int64_t sum = 0;               // all sums of a round take, and ...
  std::int64_t element = 0;           // ... each of their elements
  std::uint64_t regroup = 0;
  bool at_the_end = false;  // all layers are offered behind the last one
};

// Ranks that train together (BSP) in virtual time: rounds, costs and colayers are those of the
// library; network, threads and computing are numbers. Ranks compute a little out of step.
class Pipeline {
 public:
  explicit Pipeline(const Model& model) : model_(model), random_(1) {
    const auto layers = model.elements.size();
    LooseRule rule{true, true, false, 0, layers, 1'000'000};
    rule.regroup = model.regroup;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ranks_.emplace_back(rank, layers, rule);
    }
  }

  // Returns what an iteration takes in the second half, on average.
  double run(int iterations) {
    std::int64_t half = 0;
    for (int i = 0; i < iterations; ++i) {
      half = i == iterations / 2 ? now_ : half;
      for (auto& rank : ranks_) {
        enter(rank);
      }
      while (!testing::Test::HasFatalFailure() &&
             std::any_of(ranks_.begin(), ranks_.end(),
                         [](const Rank& rank) { return rank.rounds.is_inside(); })) {
        round();
      }
    }
    return static_cast<double>(now_ - half) / (iterations - iterations / 2);
  }
  // From now on the sums of a round take so long.
  void set_sum(std::int64_t sum) { model_.sum = sum; }

 private:
  static constexpr std::uint32_t ranks = 3;
  static constexpr std::int64_t pause = 2'000'000;
  static constexpr std::int64_t hurried_pause = pause / 8;

  struct Rank {
    Rank(std::uint32_t rank, std::size_t layers, const LooseRule& rule)
        : rounds(rank, ranks, layers, rule), colayers(layers), offered_at(layers) {}

    Rounds rounds;
    Colayers colayers;
    std::int64_t began = 0;
    std::vector<std::int64_t> ready_at;  // of the layers that are not there yet, the next one last
    std::vector<std::int64_t> offered_at;
    std::uint32_t waited_us = 0;
  };

  void enter(Rank& rank) {
    ASSERT_TRUE(rank.rounds.may_enter());
    rank.colayers.begin(rank.rounds.enter());
    rank.began = now_;
    auto at = now_;
    rank.ready_at.clear();
    for (std::size_t layer = 0; layer < model_.elements.size(); ++layer) {
      at += model_.compute * (95 + static_cast<std::int64_t>(random_() % 11)) / 100;
      rank.ready_at.push_back(at);
    }
    if (model_.at_the_end) {
      rank.ready_at.assign(rank.ready_at.size(), at);
    }
    std::reverse(rank.ready_at.begin(), rank.ready_at.end());
  }
  // Computes until that time, or until there is something to say if that is sooner. Returns when.
  std::int64_t compute(Rank& rank, std::int64_t until, bool stops) {
    while (!rank.ready_at.empty() && rank.ready_at.back() <= until) {
      const auto layer = rank.ready_at.size() - 1;  // backward
      const auto at = rank.ready_at.back();
      rank.ready_at.pop_back();
      for (const auto ready : rank.colayers.ready(layer, at - rank.began)) {
        rank.rounds.offer(ready);
        rank.offered_at[ready] = at;
      }
      const bool is_last_of_then = rank.ready_at.empty() || rank.ready_at.back() > at;
      if (stops && is_last_of_then && rank.rounds.has_news(false)) {
        return at;
      }
    }
    return until;
  }
  // Returns when the rank comes to the next round.
  std::int64_t come(Rank& rank) {
    compute(rank, now_, false);
    if (rank.rounds.has_news(false)) {
      return now_;
    }
    const bool hurries = rank.ready_at.empty() || rank.rounds.is_owed();
    return compute(rank, now_ + (hurries ? hurried_pause : pause), true);
  }
  void round() {
    auto begins = now_;
    std::vector<std::span<std::uint64_t>> lent;
    for (auto& rank : ranks_) {
      begins = std::max(begins, come(rank));
      lent.push_back(rank.rounds.speak(false, rank.waited_us));
    }
    std::vector<std::uint64_t> together(lent.front().size());
    for (const auto& words : lent) {
      std::transform(words.begin(), words.end(), together.begin(), together.begin(),
                     std::bit_or<>());
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      std::copy(together.begin(), together.end(), lent[rank].begin());
      ASSERT_TRUE(ranks_[rank].rounds.hear());
    }
    now_ = begins + model_.words;
    const auto& rounds = ranks_.front().rounds;
    if (rounds.waited_us() != 0) {
      times_.add(summed_, rounds.waited_us() * 1e-6);
    }
    if (rounds.regroups() && !times_.is_empty()) {
      form_colayers();
    }
    add_up();
  }
  void form_colayers() {
    std::vector<std::int64_t> latest(model_.elements.size(), 0);
    for (const auto& rank : ranks_) {
      std::transform(latest.begin(), latest.end(), rank.colayers.ready_ns().begin(), latest.begin(),
                     [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    }
    const auto groups = groups_of(latest, model_.elements, times_.cost());
    times_.grow_old();
    for (auto& rank : ranks_) {
      rank.colayers.form(groups, rank.rounds.colayers_from());
    }
  }
  void add_up() {
    const auto sums = ranks_.front().rounds.sums();
    summed_ = 0;
    for (const auto& sum : sums) {
      summed_ += model_.elements[sum.layer];
    }
    if (!sums.empty()) {
      now_ += model_.sum + model_.element * static_cast<std::int64_t>(summed_);
    }
    for (auto& rank : ranks_) {
      auto began = sums_ended_;
      for (const auto& sum : sums) {
        began = std::max(began, rank.offered_at[sum.layer]);
      }
      rank.waited_us = sums.empty() ? 0 : static_cast<std::uint32_t>((now_ - began) / 1000);
      rank.rounds.end();
    }
    sums_ended_ = sums.empty() ? sums_ended_ : now_;
  }

  Model model_;
  std::mt19937 random_;
  std::vector<Rank> ranks_;
  SumTimes times_;
  std::size_t summed_ = 0;  // elements in the sums of the last round
  std::int64_t sums_ended_ = 0;
  std::int64_t now_ = 0;
};

}  // namespace tributary::host::test
