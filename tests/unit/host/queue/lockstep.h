// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "host/call.h"
#include "host/queue/ordering.h"

// Simulates the ranks of one queue in virtual time: every step of a cycle on all of them, and the
// results of their collectives.
namespace tributary::host::test {

inline Call allreduce_of(std::size_t count) {
  return {Collective::allreduce,
          {nullptr, nullptr, count, wire::ElementType::f32, wire::Operator::sum},
          0};
}

class Lockstep {
 public:
  struct Rank {
    Ordering ordering;
    std::vector<std::string> done;  // names, in the order in which they were carried out
    std::map<std::string, Error> failed;
    std::vector<std::string> warnings;
    std::optional<Error> ended;  // the queue
  };

  Lockstep(std::uint32_t ranks, const Ordering::Limits& limits) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ranks_.push_back({Ordering(rank, ranks, limits, now), {}, {}, {}, {}});
    }
  }

  Rank& operator[](std::size_t rank) { return ranks_[rank]; }
  std::vector<Rank>& ranks() { return ranks_; }

  Result<void> post(std::size_t rank, const std::string& name, std::size_t count = 8) {
    return ranks_[rank].ordering.post(name, allreduce_of(count), now);
  }
  void close_all() {
    for (auto& rank : ranks_) {
      rank.ordering.close(now);
    }
  }

  void cycle() {
    together([&](Rank& rank) { return rank.ordering.vote(now); },
             [](std::uint64_t one, std::uint64_t other) { return one & other; });
    for (auto& rank : ranks_) {
      if (const auto counted = rank.ordering.count(now); !counted) {
        rank.ended = counted.error();
      }
    }
    together([](Rank& rank) { return rank.ordering.census(); },
             [](std::uint64_t one, std::uint64_t other) { return one | other; });
    for (auto& rank : ranks_) {
      rank.ordering.settle();
    }
    carry_out();
    announce();
    for (auto& rank : ranks_) {
      take(rank);
    }
  }
  // Runs cycles until they no longer change anything.
  void cycles() {
    for (int i = 0; i < 5; ++i) {
      cycle();
    }
  }

  Time now{};
  Duration run_time{};  // of all collectives of one cycle
  int announcements = 0;

 private:
  template <typename Words, typename Combine>
  void together(Words words_of, Combine combine) {
    std::vector<std::span<std::uint64_t>> words;
    for (auto& rank : ranks_) {
      words.push_back(words_of(rank));
      ASSERT_EQ(words.back().size(), words.front().size());
    }
    for (std::size_t i = 0; i < words.front().size(); ++i) {
      for (const auto& each : words) {
        words.front()[i] = combine(words.front()[i], each[i]);
      }
      for (const auto& each : words) {
        each[i] = words.front()[i];
      }
    }
  }
  void carry_out() {
    for (auto& rank : ranks_) {
      rank.ordering.run_begins(now);
    }
    now += run_time;
    for (auto& rank : ranks_) {
      std::vector<std::size_t> places;
      for (const auto& call : rank.ordering.ready()) {
        EXPECT_EQ(call.buffers.count, ranks_[0].ordering.ready()[places.size()].buffers.count);
        places.push_back(places.size());
      }
      rank.ordering.run_ended(places, now);
    }
  }
  void announce() {
    const auto announcer = ranks_[0].ordering.announcer();
    for (auto& rank : ranks_) {
      ASSERT_EQ(rank.ordering.announcer(), announcer);
    }
    if (!announcer) {
      return;
    }
    ++announcements;
    const auto told = ranks_[*announcer].ordering.announcement();
    for (auto& rank : ranks_) {
      const auto heard = rank.ordering.announcement();
      std::copy(told.begin(), told.end(), heard.begin());
      ASSERT_TRUE(rank.ordering.adopt());
    }
  }
  static void take(Rank& rank) {
    for (const auto& [name, result] : rank.ordering.take_outcomes()) {
      if (result) {
        rank.done.push_back(name);
      } else {
        rank.failed.insert_or_assign(name, result.error());
      }
    }
    for (const auto& warning : rank.ordering.take_warnings()) {
      rank.warnings.push_back(warning);
    }
  }

  std::vector<Rank> ranks_;
};

}  // namespace tributary::host::test
