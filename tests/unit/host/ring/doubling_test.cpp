// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/doubling.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/handlers.h"

namespace tributary::host::test {
namespace {

using Kind = DoublingStep::Kind;
using Pipes = std::map<std::pair<std::uint32_t, std::uint32_t>, std::deque<std::byte>>;

// One rank of an allreduce in place, and its present step.
class DoublingRank {
 public:
  DoublingRank(std::uint32_t rank, std::uint32_t ranks, const RingAnnouncement& mine,
               const Buffers& buffers, std::size_t grain)
      : rank_(rank), schedule_(mine, buffers, grain), steps_(doubling_steps(rank, ranks)) {}

  bool is_done() const { return at_ == steps_.size(); }

  // Moves up to `most` bytes each way.
  void go_on(Pipes& pipes, std::size_t most) {
    const auto& step = steps_[at_];
    if (!exchange_) {
      exchange_.emplace(schedule_.exchange(step));
    }
    const auto out = exchange_->sendable();
    const auto sent = std::min(most, out.size());
    auto& to = pipes[{rank_, step.peer}];
    to.insert(to.end(), out.begin(), out.begin() + static_cast<std::ptrdiff_t>(sent));
    exchange_->sent(sent);
    auto& from = pipes[{step.peer, rank_}];
    const auto room = exchange_->receivable();
    const auto came = std::min({most, room.size(), from.size()});
    std::copy_n(from.begin(), came, room.begin());
    from.erase(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(came));
    exchange_->received(came);
    const auto checked = exchange_->check("the other rank");
    EXPECT_TRUE(checked) << checked.error().message;
    if (exchange_->finished()) {
      schedule_.complete(step, rank_);
      exchange_.reset();
      if (++at_ == steps_.size()) {
        schedule_.finish();
      }
    }
  }

 private:
  std::uint32_t rank_;
  DoublingSchedule schedule_;
  std::vector<DoublingStep> steps_;
  std::size_t at_ = 0;
  std::optional<Exchange> exchange_;
};

template <typename T>
Buffers of(std::vector<T>& vector, wire::ElementType type, wire::Operator op) {
  const auto bytes = std::as_writable_bytes(std::span(vector));
  return {bytes.data(), bytes.data(), vector.size(), type, op};
}

// Runs all ranks, each a few bytes at a time, in any order.
template <typename T>
void allreduce(std::vector<std::vector<T>>& vectors, wire::ElementType type, wire::Operator op,
               std::size_t grain = 1) {
  const auto ranks = static_cast<std::uint32_t>(vectors.size());
  const auto mine =
      RingAnnouncement::of(RingAnnouncement::Kind::allreduce, of(vectors[0], type, op), 0);
  std::vector<DoublingRank> members;
  members.reserve(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    members.emplace_back(rank, ranks, mine, of(vectors[rank], type, op), grain);
  }
  Pipes pipes;
  std::mt19937 random(ranks);
  for (int round = 0; round < 100'000; ++round) {
    auto& member = members[random() % ranks];
    if (!member.is_done()) {
      member.go_on(pipes, random() % 50);
    }
  }
  for (const auto& member : members) {
    EXPECT_TRUE(member.is_done());
  }
  for (const auto& [ends, pipe] : pipes) {
    EXPECT_TRUE(pipe.empty()) << "from " << ends.first << " to " << ends.second;
  }
}

TEST(DoublingSteps, double_for_powers_of_two) {
  const std::vector<DoublingStep> expected = {
      {4, Kind::exchange}, {7, Kind::exchange}, {1, Kind::exchange}};
  EXPECT_EQ(doubling_steps(5, 8), expected);
  EXPECT_TRUE(doubling_steps(0, 1).empty());
}

TEST(DoublingSteps, begin_with_pairs_for_other_numbers) {
  const std::vector<DoublingStep> even = {{1, Kind::give}, {1, Kind::take}};
  EXPECT_EQ(doubling_steps(0, 6), even);
  const std::vector<DoublingStep> odd = {
      {2, Kind::add}, {1, Kind::exchange}, {5, Kind::exchange}, {2, Kind::give}};
  EXPECT_EQ(doubling_steps(3, 6), odd);
  const std::vector<DoublingStep> behind = {{5, Kind::exchange}, {1, Kind::exchange}};
  EXPECT_EQ(doubling_steps(4, 6), behind);
}

TEST(DoublingSchedule, adds_for_any_number_of_ranks) {
  for (std::uint32_t ranks = 1; ranks <= 17; ++ranks) {
    std::vector<std::vector<std::int32_t>> vectors(ranks);
    std::vector<std::int32_t> sum(10);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t i = 0; i < sum.size(); ++i) {
        vectors[rank].push_back(static_cast<std::int32_t>(1000 * rank + i));
        sum[i] += vectors[rank][i];
      }
    }
    allreduce(vectors, wire::ElementType::i32, wire::Operator::sum);
    EXPECT_THAT(vectors, testing::Each(sum)) << ranks << " ranks";
  }
}

TEST(DoublingSchedule, adds_nothing) {
  std::vector<std::vector<float>> vectors(5);
  allreduce(vectors, wire::ElementType::f32, wire::Operator::sum);
}

// The result of these sums depends on the order.
TEST(DoublingSchedule, gives_all_ranks_the_same_bits) {
  for (const std::uint32_t ranks : {4u, 7u, 13u}) {
    std::mt19937 random(1);
    std::vector<std::vector<std::uint32_t>> vectors(ranks);
    for (auto& vector : vectors) {
      for (int i = 0; i < 20; ++i) {
        vector.push_back(static_cast<std::uint32_t>(random()));  // NaNs among them
      }
    }
    allreduce(vectors, wire::ElementType::f32, wire::Operator::sum);
    EXPECT_THAT(vectors, testing::Each(vectors[0])) << ranks << " ranks";
  }
}

// A handler that keeps its first operand, and checks the number of elements of each call.
class First final : public tributary::test::IntHandler {
 public:
  First() : IntHandler(7) {}

 private:
  std::vector<std::int32_t> combined(std::vector<std::int32_t> sum,
                                     const std::vector<std::int32_t>& next) const override {
    EXPECT_TRUE(next.size() == 4 || next.size() == 2);
    return sum;
  }
};

TEST(DoublingSchedule, combines_in_the_order_of_the_ranks) {
  const tributary::test::LoadedHandler loaded(5, std::make_unique<First>());
  for (const std::uint32_t ranks : {2u, 3u, 6u, 8u, 11u}) {
    std::vector<std::vector<std::int32_t>> vectors;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      vectors.emplace_back(10, static_cast<std::int32_t>(rank + 1));
    }
    allreduce(vectors, wire::ElementType::i32, wire::handler_operator(5), 4);
    EXPECT_THAT(vectors, testing::Each(std::vector<std::int32_t>(10, 1))) << ranks << " ranks";
  }
}

TEST(Exchange, tells_what_belongs_to_another_collective_as_soon_as_it_can) {
  std::vector<std::int32_t> vector(10, 1);
  const auto buffers = of(vector, wire::ElementType::i32, wire::Operator::sum);
  const auto mine = RingAnnouncement::of(RingAnnouncement::Kind::allreduce, buffers, 0);
  auto theirs = mine;
  theirs.count = 11;
  DoublingSchedule schedule(mine, buffers);
  auto exchange = schedule.exchange({1, Kind::exchange});
  std::memcpy(exchange.receivable().data(), &theirs, RingAnnouncement::common_bytes);
  exchange.received(RingAnnouncement::common_bytes - 1);
  EXPECT_TRUE(exchange.check("rank 1"));
  exchange.received(1);
  const auto checked = exchange.check("rank 1");
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code, Error::Code::mismatch);
  EXPECT_THAT(checked.error().message, testing::HasSubstr("with 11 elements, here number 0"));
}

}  // namespace
}  // namespace tributary::host::test
