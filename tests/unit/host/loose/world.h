// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/loose/rounds.h"

namespace tributary::host::test {

// Ranks whose messages are combined at once.
class World {
 public:
  World(std::uint32_t ranks, std::size_t layers, const LooseRule& rule) : layers_(layers) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ranks_.emplace_back(rank, ranks, layers, rule);
    }
  }

  Rounds& operator[](std::uint32_t rank) { return ranks_[rank]; }

  // Ranks that are in no iteration are at rest, unless they are busy. `waited_us` is for how long
  // each waited for sums.
  void round(const std::set<std::uint32_t>& busy = {},
             const std::vector<std::uint32_t>& waited_us = {}) {
    const auto speak = [&](Rounds& rank) {
      const auto number = static_cast<std::uint32_t>(&rank - ranks_.data());
      return rank.speak(!rank.is_inside() && busy.count(number) == 0,
                        waited_us.empty() ? 0 : waited_us[number]);
    };
    std::vector<std::uint64_t> together;
    for (auto& rank : ranks_) {
      const auto words = speak(rank);
      together.resize(words.size());
      for (std::size_t i = 0; i < words.size(); ++i) {
        together[i] |= words[i];
      }
    }
    for (auto& rank : ranks_) {
      const auto words = speak(rank);
      std::copy(together.begin(), together.end(), words.begin());
      const auto heard = rank.hear();
      ASSERT_TRUE(heard) << heard.error().message;
    }
    for (auto& rank : ranks_) {
      rank.end();
    }
  }
  void enter(std::uint32_t rank, std::uint64_t iteration) {
    ASSERT_TRUE(ranks_[rank].may_enter());
    EXPECT_EQ(ranks_[rank].enter(), iteration);
  }
  void offer_all(std::uint32_t rank) {
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      ranks_[rank].offer(layer);
    }
  }
  // Does a whole iteration that no rank delays.
  void iterate(std::uint32_t rank, std::uint64_t iteration) {
    enter(rank, iteration);
    offer_all(rank);
    round();
    EXPECT_FALSE(ranks_[rank].is_inside());
  }
  // "0: 1 3, 2: 0" for a sum of layer 0 by ranks 1 and 3, and one of layer 2 by rank 0.
  std::string sums() const {
    std::string text;
    for (const auto& sum : ranks_.front().sums()) {
      text += (text.empty() ? "" : ", ") + std::to_string(sum.layer) + ":";
      for (const auto rank : sum.contributors.ranks()) {
        text += " " + std::to_string(rank);
      }
    }
    return text;
  }

 private:
  std::size_t layers_;
  std::vector<Rounds> ranks_;
};

}  // namespace tributary::host::test
