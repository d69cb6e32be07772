// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/sparse_schedule.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pipes.h"
#include "unit/host/sparse_vectors.h"

namespace tributary::host::test {
namespace {

using wire::ElementType;
using wire::Operator;

constexpr std::size_t header = SparsePart::header_bytes;

// A ring of memory; every transfer moves a random number of bytes, so that parts are cut anywhere.
class MemorySparseRing {
 public:
  MemorySparseRing(std::uint32_t ranks, const std::function<SparseBuffers(std::uint32_t)>& of)
      : pipes_(ranks) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      ranks_.emplace_back(of(rank), rank, ranks);
    }
  }
  explicit MemorySparseRing(const SparseVectors& vectors)
      : MemorySparseRing(vectors.ranks(),
                         [&vectors](std::uint32_t rank) { return vectors.of(rank); }) {}

  bool run(std::size_t piece_max) {
    std::mt19937 random(11);
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        moved |= pipes_.send(ranks_[rank], rank, 1 + random() % piece_max);
        moved |= pipes_.receive(ranks_[rank], rank, 1 + random() % piece_max);
      }
    }
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const auto& rank) { return rank.finished() && rank.is_sound(); });
  }

  SparseElements sum(std::size_t rank) const { return ranks_[rank].sum(); }
  std::uint64_t sent_by(std::size_t rank) const { return ranks_[rank].bytes_sent(); }

 private:
  RingPipes pipes_;
  std::vector<SparseSchedule> ranks_;
};

// Expects the right sums, in the same form on all ranks.
void expect_sums(const SparseVectors& vectors, std::size_t piece_max) {
  MemorySparseRing ring(vectors);
  ASSERT_TRUE(ring.run(piece_max));
  const auto first = ring.sum(0);
  for (std::uint32_t rank = 0; rank < vectors.ranks(); ++rank) {
    const auto sum = ring.sum(rank);
    EXPECT_EQ(expanded(sum), vectors.sum()) << "rank " << rank;
    EXPECT_EQ(sum.indices, first.indices);
    EXPECT_EQ(sum.is_dense(), first.is_dense());
  }
}

class SparseWorlds : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, SparseWorlds, testing::Values(1, 2, 3, 5, 8, 16));

TEST_P(SparseWorlds, AddAtEveryDensityAndLength) {
  for (const std::uint32_t permille : {0, 1, 100, 500, 1000}) {
    for (const std::size_t count : {0, 1, 7, 997, 2048}) {
      SCOPED_TRACE(std::to_string(permille) + " of 1000, " + std::to_string(count));
      expect_sums({GetParam(), count, ElementType::f32, drawn(permille)}, 97);
    }
  }
}

TEST_P(SparseWorlds, AddWhereSomeHaveNothing) {
  for (std::uint32_t filled = 0; filled < GetParam(); ++filled) {
    const auto only = [filled](std::uint32_t rank, std::size_t index) {
      return rank == filled && index % 9 == 0;
    };
    expect_sums({GetParam(), 500, ElementType::i64, only}, 997);
  }
}

TEST_P(SparseWorlds, AddWhereAllIsInOnePlace) {
  const auto dense_end = [](std::uint32_t, std::size_t index) { return index >= 950; };
  expect_sums({GetParam(), 1000, ElementType::f64, dense_end}, 997);
}

// The union does not grow: each step sends an n-th of it.
TEST_P(SparseWorlds, EqualSetsAreSentTwiceLessOneShare) {
  const std::size_t ranks = GetParam();
  const SparseVectors vectors(GetParam(), ranks * 100, ElementType::f32,
                              [](std::uint32_t, std::size_t index) { return index % 10 == 3; });
  MemorySparseRing ring(vectors);
  ASSERT_TRUE(ring.run(500));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(ring.sent_by(rank), 2 * (ranks - 1) * (header + 10 * 8));
  }
}

// Each step of the first half sends what one rank more has, each of the second half what all have.
TEST_P(SparseWorlds, DisjointSetsGrowAlongTheRing) {
  const std::size_t ranks = GetParam();
  const SparseVectors vectors(
      GetParam(), ranks * 100, ElementType::f32,
      [](std::uint32_t rank, std::size_t index) { return index % 100 == rank * 3; });
  MemorySparseRing ring(vectors);
  ASSERT_TRUE(ring.run(500));
  std::uint64_t expected = (ranks - 1) * (header + ranks * 8);
  for (std::size_t step = 1; step < ranks; ++step) {
    expected += header + step * 8;
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(ring.sent_by(rank), expected);
    EXPECT_FALSE(ring.sum(rank).is_dense());
  }
}

TEST_P(SparseWorlds, FullVectorsCostNoIndices) {
  const std::size_t ranks = GetParam();
  MemorySparseRing ring(SparseVectors(GetParam(), ranks * 100, ElementType::f32, drawn(1000)));
  ASSERT_TRUE(ring.run(500));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(ring.sent_by(rank), 2 * (ranks - 1) * (header + 400));
  }
}

// Each of eight ranks has another eighth. From the fifth on all elements take fewer bytes than
// elements with their indices.
TEST(SparseSchedule, AChunkBecomesDenseOnItsWay) {
  const SparseVectors vectors(
      8, 8 * 80, ElementType::f32,
      [](std::uint32_t rank, std::size_t index) { return index % 8 == rank; });
  MemorySparseRing ring(vectors);
  ASSERT_TRUE(ring.run(500));
  std::uint64_t expected = 7 * (header + 80 * 4);
  for (std::size_t step = 1; step <= 7; ++step) {
    expected += header + std::min<std::size_t>(step * 10 * 8, 80 * 4);
  }
  for (std::uint32_t rank = 0; rank < 8; ++rank) {
    EXPECT_EQ(ring.sent_by(rank), expected);
    EXPECT_TRUE(ring.sum(rank).is_dense());
    EXPECT_EQ(expanded(ring.sum(rank)), vectors.sum());
  }
}

TEST(SparseSchedule, AddsEveryType) {
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    if (!is_sparse_type(static_cast<ElementType>(type))) {
      continue;
    }
    for (const std::uint32_t permille : {20, 120, 300, 1000}) {
      SCOPED_TRACE(std::string(wire::element_type_names[type]) + " " + std::to_string(permille));
      expect_sums({5, 411, static_cast<ElementType>(type), drawn(permille)}, 29);
    }
  }
}

// Sums of these numbers are rounded.
TEST(SparseSchedule, AllRanksHaveTheSameBits) {
  constexpr std::size_t count = 1000;
  constexpr std::uint32_t ranks = 7;
  std::vector<std::uint32_t> all(count);
  std::generate(all.begin(), all.end(), [next = 0u]() mutable { return next++; });
  for (const auto type :
       {ElementType::f32, ElementType::f64, ElementType::f16, ElementType::bf16}) {
    std::vector<Elements> values;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      values.push_back(input(rank, count, type, Operator::sum));
    }
    MemorySparseRing ring(ranks, [&](std::uint32_t rank) {
      return SparseBuffers{all, values[rank].data(), count, type, Operator::sum};
    });
    ASSERT_TRUE(ring.run(9973));
    const auto first = expanded(ring.sum(0));
    EXPECT_EQ(wrong_elements(first, ranks, count, type, Operator::sum), 0u) << wire::name(type);
    for (std::uint32_t rank = 1; rank < ranks; ++rank) {
      EXPECT_EQ(expanded(ring.sum(rank)), first);
    }
  }
}

// Rank 0 of two, with a vector of eight elements; it receives elements 4 to 7 first.
class BesideAPeer : public testing::Test {
 protected:
  static std::vector<std::byte> part(std::uint8_t form, std::uint32_t elements,
                                     const std::vector<std::uint32_t>& words) {
    std::vector<std::byte> bytes(header + words.size() * 4);
    bytes[0] = std::byte{form};
    const wire::be32 count(elements);
    std::memcpy(bytes.data() + 4, &count, sizeof count);
    if (!words.empty()) {
      std::memcpy(bytes.data() + header, words.data(), words.size() * 4);
    }
    return bytes;
  }
  // Returns whether the rank accepts the bytes as a part.
  bool takes(const std::vector<std::byte>& bytes) {
    std::size_t given = 0;
    for (auto room = schedule_.receivable(); !room.empty() && given < bytes.size();
         room = schedule_.receivable()) {
      const auto n = std::min(room.size(), bytes.size() - given);
      std::memcpy(room.data(), bytes.data() + given, n);
      schedule_.received(n);
      given += n;
    }
    EXPECT_EQ(schedule_.is_sound(), schedule_.parts_received() == 1);
    return schedule_.is_sound();
  }

  SparseSchedule schedule_{{{}, nullptr, 8, ElementType::i32, Operator::sum}, 0, 2};
};

TEST_F(BesideAPeer, TakesIndicesOfTheChunk) {
  EXPECT_TRUE(takes(part(0, 2, {4, 7, 1, 2})));
}
TEST_F(BesideAPeer, TakesNothing) {
  EXPECT_TRUE(takes(part(0, 0, {})));
}
TEST_F(BesideAPeer, TakesAllElementsOfTheChunk) {
  EXPECT_TRUE(takes(part(1, 4, {1, 2, 3, 4})));
}
TEST_F(BesideAPeer, RefusesAFormThatThereIsNot) {
  EXPECT_FALSE(takes(part(2, 4, {1, 2, 3, 4})));
}
TEST_F(BesideAPeer, RefusesMoreThanWouldBeSparse) {
  EXPECT_FALSE(takes(part(0, 3, {4, 5, 6, 1, 2, 3})));
}
TEST_F(BesideAPeer, RefusesToReserveMemoryForWhatCannotCome) {
  EXPECT_FALSE(takes(part(0, 0xffffffff, {})));
}
TEST_F(BesideAPeer, RefusesADensePartOfAnotherLength) {
  EXPECT_FALSE(takes(part(1, 3, {1, 2, 3})));
}
TEST_F(BesideAPeer, RefusesIndicesOfAnotherChunk) {
  EXPECT_FALSE(takes(part(0, 2, {3, 4, 1, 2})));
}
TEST_F(BesideAPeer, RefusesIndicesBeyondTheVector) {
  EXPECT_FALSE(takes(part(0, 2, {4, 8, 1, 2})));
}
TEST_F(BesideAPeer, RefusesIndicesThatDoNotIncrease) {
  EXPECT_FALSE(takes(part(0, 2, {5, 5, 1, 2})));
}

// The peer counts wrongly: the memory of the part is still being sent.
TEST_F(BesideAPeer, TakesNoSumOfAPartThatItHasNotSent) {
  ASSERT_TRUE(takes(part(0, 0, {})));
  EXPECT_TRUE(schedule_.receivable().empty());
  schedule_.sent(schedule_.sendable().size());
  EXPECT_FALSE(schedule_.receivable().empty());
}

}  // namespace
}  // namespace tributary::host::test
