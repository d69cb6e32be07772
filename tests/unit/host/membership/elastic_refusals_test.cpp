// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../ports.h"
#include "elastic_worlds.h"
#include "host/parallel/parallel_communicator.h"
#include "host/queue/collective_queue.h"

namespace tributary::host::test {
namespace {

using testing::HasSubstr;

TEST_F(SecretElasticWorlds, TurnAwayStrangers) {
  auto members = found(2);
  for (const auto* secret : {"", "guessed"}) {
    auto options = options_to_join(2);
    options.secret = secret;
    const auto stranger = Communicator::create(options);
    ASSERT_FALSE(stranger);
    EXPECT_EQ(stranger.error().code, Error::Code::rendezvous);
    EXPECT_THAT(stranger.error().message, HasSubstr("TRIBUTARY_SECRET"));
  }
  EXPECT_EQ(members[0]->membership().waiting, 0u);
  EXPECT_THAT(said(), HasSubstr("turned away from 127.0.0.1"));
  // A process that knows the secret is taken in.
  members.resize(3);
  {
    const auto thread = joining(2, members[2]);
    await_waiting(*members[0], 1);
    run_ranks(2, [&](std::uint32_t rank) { members[rank] = created(members[rank]->regroup()); });
  }
  expect_sums(members);
}

TEST_F(ElasticWorlds, LetWhoWaitsForEverWait) {
  auto members = found(2);
  auto options = options_to_join(2);
  options.join_timeout = 0ms;
  const auto refused = Communicator::create(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Error::Code::invalid_argument);
  options.join_timeout = std::chrono::nanoseconds::max();
  std::optional<Communicator> newcomer;
  {
    const std::jthread thread([&] { newcomer = created(Communicator::create(options)); });
    await_waiting(*members[0], 1);
    run_ranks(2, [&](std::uint32_t rank) { members[rank] = created(members[rank]->regroup()); });
  }
  ASSERT_TRUE(newcomer);
  members.push_back(std::move(newcomer));
  expect_sums(members);
}

// A member that leaves because of the error is not the reason for others to go on without it.
TEST_F(ElasticWorlds, FailOnAllRanksWhereTheyFailForOneReason) {
  run_ranks(4, [&](std::uint32_t rank) {
    auto options = options_of(rank, 4);
    options.fallback = Fallback::error;
    const auto made = Communicator::create(options);
    EXPECT_FALSE(made) << "in a world of " << (made ? made->world_size() : 0);
  });
}

TEST_F(ElasticWorlds, TurnAwayWhoHasOtherOptions) {
  auto members = found(2);
  auto options = options_to_join(2);
  options.algorithm = "ring";
  const auto made = Communicator::create(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Error::Code::rendezvous);
  EXPECT_THAT(made.error().message, HasSubstr("differ in the algorithm"));
  expect_sums(members);
}

// Data that all share may depend on the size of the world, which a newcomer does not know.
TEST_F(ElasticWorlds, LetInWhoHasTheSameShareOfAWorldOfAnotherSize) {
  const auto group = next_multicast_group();
  const auto share = [&](CommunicatorOptions& options) {
    options.algorithm = "panama";
    options.job = 1;
    options.set("trees", group).set("share", "0.5");
  };
  auto members = found(3, share);
  auto options = options_to_join(3);
  share(options);
  options.join_timeout = 200ms;
  const auto made = Communicator::create(options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("nobody has taken in who waits"));
  options.set("trees", next_multicast_group());
  const auto other = Communicator::create(options);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("differ in TRIBUTARY_TREES"));
}

TEST_F(ElasticWorlds, GoOnWithoutAKeeperUntilTheyRegroup) {
  auto members = found(2);
  stop_keeper();
  keeper_ = *Keeper::at({wire::Ipv4Address(127, 0, 0, 1), 0}, "", [](const std::string&) {});
  expect_sums(members);
  const auto next = members[0]->regroup();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Error::Code::rendezvous);
  EXPECT_THAT(next.error().message, HasSubstr("the connection with the keeper"));
}

TEST_F(ElasticWorlds, SayWhenNobodyTakesInWhoWaits) {
  auto members = found(1);
  auto options = options_to_join(1);
  options.join_timeout = 100ms;
  const auto made = Communicator::create(options);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Error::Code::timeout);
  EXPECT_THAT(made.error().message, HasSubstr("TRIBUTARY_JOIN_TIMEOUT"));
}

TEST_F(ElasticWorlds, SayWhenThereIsNoKeeper) {
  auto options = options_of(1, 2);
  options.deadline = 1s;
  options.rendezvous = "127.0.0.1:" + std::to_string(next_ports());
  const auto made = Communicator::create(options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("no keeper of memberships listens at 127.0.0.1"));
}

TEST_F(ElasticWorlds, AreNoneOfFixedRanks) {
  auto options = options_on_loopback(0, 1, next_ports());
  auto fixed = Communicator::create(options);
  ASSERT_TRUE(fixed);
  EXPECT_EQ(fixed->membership().epoch, 0u);
  const auto next = fixed->regroup();
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Error::Code::invalid_argument);
  EXPECT_THAT(next.error().message, HasSubstr("TRIBUTARY_MEMBERSHIP=elastic"));
  EXPECT_TRUE(fixed->barrier());

  // And those do not come to a keeper.
  auto lost = options_on_loopback(1, 2, keeper_.place().port);
  lost.deadline = 2s;
  const auto made = Communicator::create(lost);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("a keeper of memberships"));
}

TEST_F(ElasticWorlds, AreNotForMachinesThatAreSharedNorForQueues) {
  ParallelOptions parallel;
  parallel.communicator = options_of(0, 1);
  parallel.local_world_size = 1;
  const auto made = ParallelCommunicator::create(parallel);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("TRIBUTARY_MEMBERSHIP"));
  auto members = found(1);
  const auto queue = CollectiveQueue::create(std::move(*members[0]));
  ASSERT_FALSE(queue);
  EXPECT_THAT(queue.error().message, HasSubstr("TRIBUTARY_MEMBERSHIP"));
}

}  // namespace
}  // namespace tributary::host::test
