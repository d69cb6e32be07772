// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"

namespace tributary::canary {
namespace {

class EngineTest : public CanaryTest {};

TEST_F(EngineTest, TimeoutsFireInTheOrderOfArrivalAndTheDeadlineIsExact) {
  for (std::uint32_t id = 1; id <= 3; ++id) {
    feed(block(id), Ints{1}, Time{id * 100us});
  }
  for (std::uint32_t id = 1; id <= 3; ++id) {
    const Time due = Time{id * 100us} + 1ms;
    EXPECT_EQ(engine->deadline(), due);
    EXPECT_TRUE(harness->expire(due - 1ns).empty());
    const auto sums = harness->expire(due);
    ASSERT_EQ(sums.size(), 1u);
    EXPECT_EQ(Seen(sums[0]).header().id.value(), id);
  }
}

TEST_F(EngineTest, DeadlineSkipsBlocksThatCompletedEarly) {
  auto complete = block(1);
  complete.hosts = 2;
  feed(block(2), Ints{1}, Time{10us});
  feed(complete, Ints{1}, Time{20us});
  feed(block(3), Ints{1}, Time{30us});
  EXPECT_EQ(engine->deadline(), Time{1010us});
  harness->expire(Time{1010us});
  EXPECT_EQ(engine->deadline(), Time{1030us});
}

TEST_F(EngineTest, OneExpireDoesABoundedAmountOfWork) {
  restart(config_with(256));
  for (std::uint32_t id = 0; id < 200; ++id) {
    feed(block(id), Ints{1});
  }
  EXPECT_EQ(harness->expire(Time{1ms}).size(), 64u);
  EXPECT_EQ(engine->deadline(), Time{1ms}) << "still due";
  EXPECT_EQ(harness->expire(Time{1ms}).size(), 64u);
  EXPECT_EQ(harness->expire(Time{1ms}).size(), 64u);
  EXPECT_EQ(harness->expire(Time{1ms}).size(), 8u);
}

TEST_F(EngineTest, DescriptorWithoutResultAgesAndTheSlotIsFree) {
  feed(block(1), Ints{1});
  harness->expire(Time{1ms});
  harness->expire(Time{5s} - 1ns);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 1u);
  harness->expire(Time{5s});
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
  EXPECT_EQ(harness->figure("aged_total"), 1u);
  EXPECT_EQ(engine->deadline(), never);
  for (const auto& job : engine->jobs()) {
    EXPECT_EQ(job.descriptors, 0u);
  }
}

TEST_F(EngineTest, AgeShorterThanTheTimeoutLosesNoContribution) {
  auto config = config_with(64);
  config.age_max = 1us;
  restart(config);
  for (std::uint32_t id = 0; id < 64; ++id) {
    feed(block(id), Ints{4}, Time{id * 1us});
  }
  EXPECT_EQ(engine->deadline(), Time{1ms});
  EXPECT_TRUE(harness->expire(Time{999us}).empty());
  EXPECT_EQ(harness->expire(Time{1031us}).size(), 32u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 32u);
  EXPECT_EQ(harness->expire(Time{2ms}).size(), 32u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
}

TEST_F(EngineTest, FullTableSendsEveryFurtherBlockToItsLeader) {
  restart(config_with(16));
  std::size_t bypassed = 0;
  for (std::uint32_t id = 0; id < 1000; ++id) {
    for (const auto& departure : feed(block(id * 7919), Ints{1})) {
      EXPECT_TRUE(Seen(departure).header().bypass());
      ++bypassed;
    }
  }
  EXPECT_EQ(harness->figure("descriptors_in_use") + bypassed, 1000u);
  EXPECT_EQ(harness->figure("descriptors_high_water"), 16u);
}

TEST_F(EngineTest, BypassPacketsPassUntouched) {
  auto spec = block(1);
  spec.bypass = true;
  auto packet = test::make_canary(pool, spec, Ints{1});
  const std::vector<std::byte> before(packet->bytes().begin(), packet->bytes().end());
  const auto out = feed(std::move(packet));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].received);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), out[0].packet->bytes().begin(),
                         out[0].packet->bytes().end()));
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
}

TEST_F(EngineTest, PathDependsOnBlockAndLeaderOnly) {
  const auto path_of = [this](const CanarySpec& spec) {
    CanaryEngine other(config_with(4), {9, wire::Ipv4Address{10, 0, 255, 9}, {}, 4}, pool);
    test::EngineHarness switch_(other);
    switch_.process(test::make_canary(pool, spec, Ints{1}), Time{});
    return switch_.expire(Time{1ms}).at(0).path.hash;
  };
  EXPECT_EQ(path_of(block(1)), path_of([] {
              auto spec = worker(3);
              spec.id = 1;
              return spec;
            }()));
  std::size_t left = 0;
  for (std::uint32_t id = 0; id < 1000; ++id) {
    left += path_of(block(id)) % 2;
  }
  EXPECT_NEAR(static_cast<double>(left), 500, 80);
}

TEST_F(EngineTest, ReconfigureKeepsTheBlocksAndChangesTheirTimeout) {
  feed(block(1), Ints{1});
  auto slower = config_with(64);
  slower.timeout = 3ms;
  EXPECT_TRUE(engine->reconfigure(slower));
  EXPECT_EQ(engine->deadline(), Time{3ms});
  EXPECT_FALSE(engine->reconfigure(config_with(128)));
  EXPECT_EQ(engine->deadline(), Time{3ms});
}

// Nothing is known of the job: the timeout is 1 ms with other blocks in flight, and the least
// possible one for a single block.
TEST_F(EngineTest, AdaptiveTimeoutOfABlockThatIsAloneIsTheShortest) {
  auto config = config_with(64);
  config.timeout.reset();
  restart(config);
  feed(CanarySpec{.id = 1}, Ints{1});
  feed(CanarySpec{.id = 2}, Ints{1});
  feed(CanarySpec{.job = 8, .id = 1}, Ints{1});
  EXPECT_EQ(harness->expire(Time{} + 49us).size(), 0u);
  EXPECT_EQ(harness->expire(Time{} + 50us).size(), 2u) << "the first of each job";
  EXPECT_EQ(harness->expire(Time{} + 999us).size(), 0u);
  EXPECT_EQ(harness->expire(Time{} + 1ms).size(), 1u);
}

// There are more jobs than are listed for operators, each with two blocks. Their timeouts are kept
// apart all the same, also when the configuration changes.
TEST_F(EngineTest, AdaptiveTimeoutsOfMoreJobsThanAreListed) {
  constexpr std::uint32_t jobs = 200;
  static_assert(jobs > JobTable::sets * JobTable::ways);
  auto config = config_with(1024);
  config.timeout.reset();
  restart(config);
  for (const std::uint32_t id : {1u, 2u}) {
    for (std::uint32_t job = 0; job < jobs; ++job) {
      feed(CanarySpec{.job = job, .id = id}, Ints{1});
    }
  }
  const auto sums_until = [&](Duration after) {
    std::size_t sums = 0;
    for (int i = 0; i < 8; ++i) {
      sums += harness->expire(Time{} + after).size();
    }
    return sums;
  };
  EXPECT_GT(harness->figure("jobs_untracked_total"), 0u);
  // Nearly all are early, as the number of blocks that a job holds is an upper bound.
  const auto early = sums_until(50us);
  EXPECT_GT(early, jobs * 95 / 100);
  EXPECT_LE(early, jobs);
  EXPECT_TRUE(engine->reconfigure(config));
  EXPECT_EQ(sums_until(999us), 0u) << "two each are held";
  EXPECT_EQ(sums_until(1ms), 2 * jobs - early);
}

TEST_F(EngineTest, ReconfigureLeavesABlockThatIsAloneTheShortestTimeout) {
  auto config = config_with(1024);
  config.timeout.reset();
  restart(config);
  constexpr std::uint32_t jobs = 200;
  for (std::uint32_t job = 0; job < jobs; ++job) {
    feed(CanarySpec{.job = job}, Ints{1});
  }
  EXPECT_TRUE(engine->reconfigure(config));
  std::size_t sums = 0;
  for (int i = 0; i < 8; ++i) {
    sums += harness->expire(Time{} + 50us).size();
  }
  EXPECT_GT(sums, jobs * 95 / 100);
}

// The next block waits longer at once, as results come windows later.
TEST_F(EngineTest, LateContributionLengthensTheAdaptiveTimeout) {
  auto config = config_with(64);
  config.timeout.reset();
  restart(config);
  feed(worker(0), Ints{1});
  harness->expire(Time{} + 1ms);
  feed(worker(1), Ints{1}, Time{} + 5ms);
  auto next = worker(0);
  next.id += 1;
  feed(next, Ints{1}, Time{} + 6ms);
  EXPECT_EQ(harness->expire(Time{} + 6ms + 4999us).size(), 0u);
  EXPECT_EQ(harness->expire(Time{} + 50ms).size(), 1u);
}

TEST_F(EngineTest, DescriptorsAreListedUpToTheLimit) {
  feed(block(10), Ints{1}, Time{1us});
  feed(block(11), Ints{1}, Time{2us});
  harness->expire(Time{1ms} + 1us);
  const auto all = engine->descriptors(Time{1ms} + 2us, 10);
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].job, 7u);
  EXPECT_EQ(all[0].id, 10u);
  EXPECT_EQ(all[0].counter, 1u);
  EXPECT_EQ(all[0].hosts, 4u);
  EXPECT_TRUE(all[0].sent);
  EXPECT_FALSE(all[1].sent);
  EXPECT_EQ(all[0].age, 1ms + 1us);
  EXPECT_EQ(all[0].leader, block(10).destination);
  EXPECT_EQ(all[0].children, (std::vector<PortIndex>{0}));
  EXPECT_EQ(engine->descriptors(Time{}, 1).size(), 1u);
  EXPECT_TRUE(engine->descriptors(Time{}, 0).empty());
}

}  // namespace
}  // namespace tributary::canary
