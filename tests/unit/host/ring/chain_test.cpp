// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/chain.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "lists.h"
#include "pipes.h"
#include "support/handlers.h"
#include "unit/host/values.h"

namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;
using Direction = RingChain::Direction;

// A ring of memory; every transfer moves a random number of bytes, so that elements are cut
// anywhere.
class MemoryChain {
 public:
  MemoryChain(Direction direction, std::uint32_t root, std::uint32_t ranks, std::size_t count,
              ElementType type, Operator op)
      : pipes_(ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      in_.push_back(input(rank, count, type, op));
      out_.push_back(direction == Direction::from_root && rank == root
                         ? in_.back()
                         : Elements(in_.back().size()));
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ranks_.push_back(std::make_unique<RingChain>(
          direction, Buffers{in_[rank].data(), out_[rank].data(), count, type, op},
          (rank + ranks - root) % ranks, ranks));
    }
  }

  bool run(std::size_t piece_max) {
    std::mt19937 random(11);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        moved |= pipes_.send(*ranks_[rank], rank, 1 + random() % piece_max);
        moved |= pipes_.receive(*ranks_[rank], rank, 1 + random() % piece_max);
      }
    }
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const auto& rank) { return rank->finished(); });
  }

  const Elements& in(std::size_t rank) const { return in_[rank]; }
  const Elements& out(std::size_t rank) const { return out_[rank]; }
  const RingChain& rank(std::size_t rank) const { return *ranks_[rank]; }

 private:
  RingPipes pipes_;
  std::vector<Elements> in_;
  std::vector<Elements> out_;
  std::vector<std::unique_ptr<RingChain>> ranks_;
};

class ChainWorlds : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, ChainWorlds, testing::Values(2, 3, 5, 8));

TEST_P(ChainWorlds, ReduceToEveryRoot) {
  const auto ranks = GetParam();
  for (std::uint32_t root = 0; root < ranks; ++root) {
    for (const std::size_t count : {0, 1, 2, 9, 997}) {
      MemoryChain chain(Direction::to_root, root, ranks, count, ElementType::f32, Operator::sum);
      EXPECT_TRUE(chain.run(13)) << count;
      EXPECT_EQ(wrong_elements(chain.out(root), ranks, count, ElementType::f32, Operator::sum), 0u);
    }
  }
}

TEST_P(ChainWorlds, BroadcastFromEveryRoot) {
  const auto ranks = GetParam();
  for (std::uint32_t root = 0; root < ranks; ++root) {
    for (const std::size_t count : {0, 1, 2, 9, 997}) {
      MemoryChain chain(Direction::from_root, root, ranks, count, ElementType::i16, Operator::sum);
      EXPECT_TRUE(chain.run(13)) << count;
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        EXPECT_EQ(chain.out(rank), chain.in(root));
      }
    }
  }
}

TEST_P(ChainWorlds, EveryLinkButOneCarriesTheVectorOnce) {
  const auto ranks = GetParam();
  MemoryChain chain(Direction::to_root, 1, ranks, 1000, ElementType::f32, Operator::sum);
  ASSERT_TRUE(chain.run(500));
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(chain.rank(rank).bytes_sent(), rank == 1 ? 0 : 4000u);
  }
}

TEST(RingChain, ReducesEveryTypeWithEveryOperator) {
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      const auto element_type = static_cast<ElementType>(type);
      const auto reduced = static_cast<Operator>(op);
      if (wire::is_valid(element_type, reduced)) {
        MemoryChain chain(Direction::to_root, 3, 5, 211, element_type, reduced);
        EXPECT_TRUE(chain.run(29));
        EXPECT_EQ(wrong_elements(chain.out(3), 5, 211, element_type, reduced), 0u)
            << name(element_type) << " " << name(reduced);
      }
    }
  }
}

// More than the staging buffers hold, in pieces that fill them.
TEST(RingChain, LongVectorsPassThroughBoundedBuffers) {
  constexpr std::size_t count = 300'007;
  MemoryChain chain(Direction::to_root, 0, 3, count, ElementType::f64, Operator::sum);
  EXPECT_TRUE(chain.run(200'000));
  EXPECT_EQ(wrong_elements(chain.out(0), 3, count, ElementType::f64, Operator::sum), 0u);
}

TEST(RingChain, HandlersSeeWholeGrains) {
  const tributary::test::LoadedHandler loaded(5, std::make_unique<tributary::test::BestOfLists>());
  constexpr std::uint32_t ranks = 3;
  constexpr std::size_t grain = 8;
  for (const std::size_t count : {1, 7, 8, 9, 100, 1000}) {
    std::vector<std::vector<std::int32_t>> values;
    std::vector<std::unique_ptr<RingChain>> streams;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      values.push_back(falling_lists(rank, count, grain));
    }
    std::vector<std::int32_t> out(count);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      streams.push_back(
          std::make_unique<RingChain>(Direction::to_root,
                                      Buffers{std::as_bytes(std::span(values[rank])).data(),
                                              std::as_writable_bytes(std::span(out)).data(), count,
                                              ElementType::i32, wire::handler_operator(5)},
                                      rank, ranks, grain));
    }
    RingPipes pipes(ranks);
    EXPECT_TRUE(pump(pipes, streams, 29)) << count;
    EXPECT_EQ(out, best_of(values, grain)) << count;
  }
}

}  // namespace
}  // namespace tributary::host::test
