// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/schedule.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <tuple>
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

// Ranks in a ring of memory; every transfer moves a random number of bytes, so that elements are
// cut anywhere.
class MemoryRing {
 public:
  MemoryRing(std::uint32_t ranks, std::size_t count, ElementType type, Operator op, bool in_place)
      : pipes_(ranks), count_(count), type_(type), op_(op) {
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      in_.push_back(input(rank, count, type, op));
      out_.push_back(in_place ? in_.back() : Elements(in_.back().size()));
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const auto* const from = in_place ? out_[rank].data() : in_[rank].data();
      ranks_.push_back(std::make_unique<RingSchedule>(
          Buffers{from, out_[rank].data(), count, type, op}, rank, ranks));
    }
  }

  bool run(std::size_t piece_max) {
    std::mt19937 random(11);
    bool moved = true;
    while (moved) {
      moved = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
        moved |= pipes_.send(*ranks_[rank], rank, 1 + random() % piece_max);
        moved |= pipes_.receive(*ranks_[rank], rank, 1 + random() % piece_max);
      }
    }
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const auto& rank) { return rank->finished(); });
  }

  std::size_t wrong() const {
    std::size_t sum = 0;
    for (const auto& vector : out_) {
      sum += wrong_elements(vector, static_cast<std::uint32_t>(out_.size()), count_, type_, op_);
    }
    return sum;
  }
  std::uint64_t sent_by(std::size_t rank) const { return ranks_[rank]->bytes_sent(); }

 private:
  RingPipes pipes_;
  std::vector<Elements> in_;
  std::vector<Elements> out_;
  std::vector<std::unique_ptr<RingSchedule>> ranks_;
  std::size_t count_;
  ElementType type_;
  Operator op_;
};

class RingWorlds : public testing::TestWithParam<std::uint32_t> {};
INSTANTIATE_TEST_SUITE_P(Ranks, RingWorlds, testing::Values(2, 3, 5, 7, 8));

TEST_P(RingWorlds, ReduceEveryLength) {
  for (const std::size_t count : {0, 1, 2, 6, 7, 8, 9, 997}) {
    for (const bool in_place : {false, true}) {
      MemoryRing ring(GetParam(), count, ElementType::f32, Operator::sum, in_place);
      EXPECT_TRUE(ring.run(13)) << count;
      EXPECT_EQ(ring.wrong(), 0u) << count;
    }
  }
}

TEST_P(RingWorlds, SendTwiceTheVectorLessOneShareEach) {
  const std::size_t ranks = GetParam();
  MemoryRing ring(GetParam(), ranks * 100, ElementType::f32, Operator::sum, true);
  ASSERT_TRUE(ring.run(400));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    EXPECT_EQ(ring.sent_by(rank), 2 * (ranks - 1) * 100 * sizeof(float));
  }
}

TEST(RingSchedule, ReducesEveryTypeWithEveryOperator) {
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    for (std::size_t op = 0; op < wire::operator_count; ++op) {
      const auto element_type = static_cast<ElementType>(type);
      const auto reduced = static_cast<Operator>(op);
      if (!wire::is_valid(element_type, reduced)) {
        continue;
      }
      MemoryRing ring(5, 211, element_type, reduced, false);
      EXPECT_TRUE(ring.run(29));
      EXPECT_EQ(ring.wrong(), 0u) << name(element_type) << " " << name(reduced);
    }
  }
}

// The vector is not touched before there is something to send.
TEST(RingSchedule, AVectorMayHaveMoreElementsThan32BitsCount) {
  constexpr std::size_t count = std::size_t{8} << 30;
  std::byte vector{};
  const RingSchedule schedule({&vector, &vector, count, ElementType::i32, Operator::sum}, 2, 3);
  EXPECT_EQ(schedule.sendable().data() - &vector, 22906492248);
  EXPECT_EQ(schedule.sendable().size(), 11453246120u);
  EXPECT_EQ(schedule.bytes_expected(), 45812984492u);
}

// Received bytes are sent on at once, before the end of a step.
TEST(RingSchedule, ForwardsBytesAsSoonAsTheyAreAdded) {
  std::vector<std::int32_t> values(300, 1);
  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
  RingSchedule schedule({bytes, bytes, values.size(), ElementType::i32, Operator::sum}, 0, 3);
  schedule.sent(schedule.sendable().size());
  EXPECT_TRUE(schedule.sendable().empty());

  const std::int32_t incoming = 41;
  std::memcpy(schedule.receivable().data(), &incoming, sizeof incoming);
  schedule.received(3);
  EXPECT_TRUE(schedule.sendable().empty());  // a cut element
  std::memcpy(schedule.receivable().data(), reinterpret_cast<const std::byte*>(&incoming) + 3, 1);
  schedule.received(1);
  const auto onward = schedule.sendable();
  ASSERT_EQ(onward.size(), sizeof incoming);
  std::int32_t sum = 0;
  std::memcpy(&sum, onward.data(), sizeof sum);
  EXPECT_EQ(sum, 42);
}

// Each rank has lists of `grain` falling numbers; the result has the best of the lists at each
// place.
TEST(RingSchedule, HandlersSeeWholeGrains) {
  const tributary::test::LoadedHandler loaded(5, std::make_unique<tributary::test::BestOfLists>());
  constexpr std::uint32_t ranks = 3;
  constexpr std::size_t grain = 8;
  for (const std::size_t count : {1, 7, 8, 9, 100, 1000}) {
    std::vector<std::vector<std::int32_t>> values;
    std::vector<std::unique_ptr<RingSchedule>> streams;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      values.push_back(falling_lists(rank, count, grain));
    }
    const auto best = best_of(values, grain);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      auto* const data = std::as_writable_bytes(std::span(values[rank])).data();
      streams.push_back(std::make_unique<RingSchedule>(
          Buffers{data, data, count, ElementType::i32, wire::handler_operator(5)}, rank, ranks,
          grain));
    }
    RingPipes pipes(ranks);
    EXPECT_TRUE(pump(pipes, streams, 29)) << count;
    EXPECT_EQ(values, std::vector(ranks, best)) << count;
  }
}

}  // namespace
}  // namespace tributary::host::test
