// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "elastic_worlds.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST_F(ElasticWorlds, AreFoundedAndRegroupAsTheyAre) {
  auto members = found(3);
  expect_sums(members);
  EXPECT_EQ(members[1]->membership().epoch, 1u);
  EXPECT_EQ(members[1]->membership().newcomers, 3u);
  regroup(members);
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(members[rank]->rank(), rank);
    EXPECT_EQ(members[rank]->membership().epoch, 2u);
    EXPECT_EQ(members[rank]->membership().newcomers, 0u);
    EXPECT_FALSE(members[rank]->membership().ended);
  }
  expect_sums(members);
}

TEST_F(ElasticWorlds, EndACollectiveWhenAMemberIsGone) {
  auto members = found(3);
  expect_sums(members);
  std::jthread ending([&] {
    std::this_thread::sleep_for(200ms);
    members[1].reset();
  });
  run_ranks(3, [&](std::uint32_t rank) {
    if (rank == 1) {
      return;
    }
    std::vector<std::int32_t> values(100'000, 1);
    const auto began = Clock::now();
    const auto done = members[rank]->allreduce(std::span(values));
    EXPECT_LT(Clock::now() - began, 8s);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::membership_ended);
    EXPECT_THAT(done.error().message, HasSubstr("membership 1 has ended: rank 1 at 127.0.0."));
    EXPECT_THAT(done.error().message, HasSubstr("call regroup()"));
    EXPECT_TRUE(members[rank]->membership().ended);
  });
  ending.join();
  regroup(members);
  EXPECT_EQ(members[2]->rank(), 1u);
  expect_sums(members);
}

TEST_F(ElasticWorlds, ReplaceAMember) {
  auto members = found(3);
  members[0].reset();
  std::optional<Communicator> newcomer;
  auto thread = joining(3, newcomer);
  regroup(members, 3);
  thread.join();
  members.push_back(std::move(newcomer));
  ASSERT_TRUE(members[3]);
  EXPECT_EQ(members[1]->rank(), 0u);
  EXPECT_EQ(members[3]->rank(), 1u);
  EXPECT_EQ(members[2]->rank(), 2u);
  EXPECT_EQ(members[3]->membership().epoch, 2u);
  EXPECT_EQ(members[3]->membership().newcomers, 1u);
  expect_sums(members);
}

TEST_F(ElasticWorlds, GrowByTwoAndShrinkToOneAndGrowAgain) {
  auto members = found(1);
  expect_sums(members);
  members.resize(3);
  {
    const auto first = joining(1, members[1]);
    const auto second = joining(2, members[2]);
    await_waiting(*members[0], 2);
    auto next = members[0]->regroup();
    members[0] = created(std::move(next));
  }
  expect_sums(members);
  members[0].reset();
  members[1].reset();
  regroup(members);
  EXPECT_EQ(members[2]->rank(), 0u);
  expect_sums(members);
  {
    const auto again = joining(0, members[0]);
    await_waiting(*members[2], 1);
    members[2] = created(members[2]->regroup());
  }
  expect_sums(members);
}

TEST_F(ElasticWorlds, FailEveryCallOfAnOldMembership) {
  auto members = found(2);
  Members next(2);
  run_ranks(2, [&](std::uint32_t rank) { next[rank] = created(members[rank]->regroup()); });
  std::vector<float> values(10);
  const std::vector<std::uint32_t> indices{1};
  auto& old = *members[0];
  GradientSketch sketch(values.size());
  std::vector<Error> errors;
  const auto keep = [&](const auto& done) {
    ASSERT_FALSE(done);
    errors.push_back(done.error());
  };
  keep(old.allreduce(std::span(values)));
  keep(old.ring_allreduce(std::span(values)));
  keep(old.reduce(std::span<const float>(values), std::span(values), 0));
  keep(old.broadcast(std::span(values), 0));
  keep(old.barrier());
  keep(old.ring_barrier());
  keep(old.allgather(values.data(), values.data(), 1, wire::ElementType::f32));
  keep(old.reduce_scatter(values.data(), values.data(), 1, wire::ElementType::f32,
                          wire::Operator::sum));
  keep(old.sparse_allreduce(std::span(indices), std::span<const float>(values).first(1), 10));
  values.front() = 3;
  keep(old.sketched_allreduce(std::span(values), sketch));
  EXPECT_THAT(sketch.residual(), testing::ElementsAreArray(values)) << "it goes with the next sum";
  for (const auto& error : errors) {
    EXPECT_EQ(error.code, Error::Code::membership_ended) << error.message;
    EXPECT_THAT(error.message, HasSubstr("membership 1 has ended: this rank has called regroup()"));
  }
  EXPECT_TRUE(old.membership().ended);
  EXPECT_EQ(old.statistics()["blocks_in_network"], 0u);
  members.clear();
  expect_sums(next);
}

TEST_F(ElasticWorlds, LeaveBehindWhoDoesNotCall) {
  // It is for how long the others wait, and also bounds how long founding may take.
  auto members = found(3, [](CommunicatorOptions& options) { options.deadline = 10s; });
  auto behind = std::exchange(members[2], std::nullopt);
  regroup(members);
  expect_sums(members);
  for (int i = 0; i < 2; ++i) {
    const auto done = behind->barrier();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, Error::Code::membership_ended);
    EXPECT_THAT(done.error().message, HasSubstr("membership 2 was agreed on without rank 2"));
    EXPECT_THAT(done.error().message, HasSubstr("TRIBUTARY_MEMBERSHIP=join"));
    EXPECT_THAT(done.error().message, Not(HasSubstr("call regroup() for the next one")));
  }
  const auto next = behind->regroup();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Error::Code::membership_ended);
  EXPECT_THAT(next.error().message, HasSubstr("membership 2 was agreed on without rank 2"));
  const auto done = behind->barrier();
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("membership 2 was agreed on without rank 2"));
  behind.reset();
  expect_sums(members);
}

}  // namespace
}  // namespace tributary::host::test
