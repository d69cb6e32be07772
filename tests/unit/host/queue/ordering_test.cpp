// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/ordering.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lockstep.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr Ordering::Limits limits{10s, 30s};

using Names = std::vector<std::string>;

TEST(Ordering, RanksThatPostInDifferentOrdersRunInOne) {
  Lockstep world(3, limits);
  const Names orders[] = {{"a", "b", "c", "d"}, {"d", "c", "b", "a"}, {"b", "d", "a", "c"}};
  for (std::size_t rank = 0; rank < 3; ++rank) {
    for (const auto& name : orders[rank]) {
      ASSERT_TRUE(world.post(rank, name));
    }
  }
  world.cycles();
  for (auto& rank : world.ranks()) {
    EXPECT_EQ(rank.done, orders[0]);  // the lowest rank announced all of them
  }
}

TEST(Ordering, WhatIsNotPostedByAllWaitsAndTheRestDoesNot) {
  Lockstep world(2, limits);
  ASSERT_TRUE(world.post(0, "early"));
  ASSERT_TRUE(world.post(0, "common"));
  ASSERT_TRUE(world.post(1, "common"));
  world.cycles();
  EXPECT_EQ(world[0].done, Names{"common"});
  ASSERT_TRUE(world.post(1, "early"));
  world.cycles();
  EXPECT_EQ(world[0].done, (Names{"common", "early"}));
  EXPECT_EQ(world[1].done, world[0].done);
}

TEST(Ordering, AKnownNameTakesOneCycleAndNoAnnouncement) {
  Lockstep world(2, limits);
  for (int time = 0; time < 3; ++time) {
    ASSERT_TRUE(world.post(1, "x"));
    ASSERT_TRUE(world.post(0, "x"));
    world.cycle();
    if (time == 0) {
      EXPECT_TRUE(world[0].done.empty());
      world.cycle();
    }
    EXPECT_EQ(world[0].done.size(), time + 1u);
  }
  EXPECT_EQ(world.announcements, 1);
}

TEST(Ordering, AnyRankAnnouncesWhatTheLowerOnesHaveNotPosted) {
  Lockstep world(3, limits);
  ASSERT_TRUE(world.post(2, "x"));
  world.cycle();
  EXPECT_EQ(world.announcements, 1);
  ASSERT_TRUE(world.post(0, "x"));
  ASSERT_TRUE(world.post(1, "x"));
  world.cycle();
  EXPECT_EQ(world.announcements, 1);
  EXPECT_EQ(world[0].done, Names{"x"});
}

TEST(Ordering, ManyNamesAreAnnouncedInSeveralCycles) {
  Lockstep world(2, limits);
  Names names;
  for (int i = 0; i < 2000; ++i) {
    names.push_back("a name that takes up room, number " + std::to_string(i));
    ASSERT_TRUE(world.post(0, names.back()));
    ASSERT_TRUE(world.post(1, names.back()));
  }
  for (int i = 0; i < 30; ++i) {
    world.cycle();
  }
  EXPECT_EQ(world[0].done.size(), names.size());
  EXPECT_EQ(world[1].done, world[0].done);
}

TEST(Ordering, AnotherShapeUnderTheNameFailsOnAllRanks) {
  Lockstep world(4, limits);
  ASSERT_TRUE(world.post(0, "x", 8));
  ASSERT_TRUE(world.post(1, "x", 8));
  ASSERT_TRUE(world.post(2, "x", 9));
  world.cycles();
  EXPECT_EQ(world[0].failed.at("x").message,
            "'x' (allreduce of 8 f32, sum), as rank 0 posted it, is not the same on rank 2; under "
            "one name all ranks post the same collective, type, operator, count and root");
  EXPECT_EQ(world[1].failed.at("x").code, Error::Code::mismatch);
  EXPECT_NE(world[2].failed.at("x").message.find("(here: allreduce of 9 f32, sum)"),
            std::string::npos);
  // A rank that comes later hears of it, and is not combined with the others' next posting.
  const auto late = world.post(3, "x", 8);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().message, world[0].failed.at("x").message);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    ASSERT_TRUE(world.post(rank, "x", 8));
  }
  world.cycles();
  EXPECT_EQ(world[3].done, Names{"x"});
}

// What rank 0 gave up twice, rank 1 may not post until it has heard of both.
TEST(Ordering, EachTimeThatWasMissedFails) {
  Lockstep world(2, limits);
  constexpr int times = 2;
  for (int i = 0; i < times; ++i) {
    ASSERT_TRUE(world.post(0, "x"));
    world.cycles();
    world.now += 2 * limits.patience;
    world.cycles();
    ASSERT_EQ(world[0].failed.at("x").code, Error::Code::timeout);
  }
  for (int i = 0; i < times; ++i) {
    const auto late = world.post(1, "x");
    ASSERT_FALSE(late) << i;
    EXPECT_EQ(late.error().code, Error::Code::timeout);
  }
  ASSERT_TRUE(world.post(0, "x") && world.post(1, "x"));
  world.cycles();
  EXPECT_EQ(world[1].done, Names{"x"});
}

TEST(Ordering, AKnownNameMayComeBackInAnotherShape) {
  Lockstep world(2, limits);
  for (const std::size_t count : {8u, 5u, 5u}) {
    for (const std::size_t rank : {1u, 0u}) {
      ASSERT_TRUE(world.post(rank, "x", count));
      world.cycle();
    }
    world.cycles();
  }
  EXPECT_EQ(world[0].done.size(), 3u);
  EXPECT_EQ(world[1].done.size(), 3u);
  EXPECT_EQ(world.announcements, 2);
}

TEST(Ordering, AKnownNameInItsOldAndInANewShapeFailsOnAllRanks) {
  for (const std::size_t old : {0u, 1u}) {
    Lockstep world(2, limits);
    ASSERT_TRUE(world.post(0, "x", 8));
    ASSERT_TRUE(world.post(1, "x", 8));
    world.cycles();
    ASSERT_TRUE(world.post(old, "x", 8));
    ASSERT_TRUE(world.post(1 - old, "x", 5));
    world.cycles();
    EXPECT_EQ(world[0].failed.at("x").code, Error::Code::mismatch);
    EXPECT_EQ(world[1].failed.at("x").code, Error::Code::mismatch);
  }
}

TEST(Ordering, AWarningNamesTheRanksThatLackIt) {
  Lockstep world(4, limits);
  ASSERT_TRUE(world.post(1, "x"));
  world.now += 1s;
  ASSERT_TRUE(world.post(3, "x"));
  world.now += 8s;
  world.cycles();
  EXPECT_TRUE(world[0].warnings.empty());
  for (int i = 0; i < 3; ++i) {
    world.now += 1s;
    world.cycles();
  }
  for (auto& rank : world.ranks()) {
    EXPECT_EQ(rank.warnings, Names{"'x' (allreduce of 8 f32, sum) has waited for 10 s: it is not "
                                   "posted by ranks 0, 2"});
  }
}

TEST(Ordering, WhatSomebodyLacksIsGivenUpOnAllRanks) {
  Lockstep world(3, limits);
  ASSERT_TRUE(world.post(0, "x"));
  ASSERT_TRUE(world.post(2, "x"));
  world.now += 29s;
  world.cycles();
  EXPECT_TRUE(world[0].failed.empty());
  world.now += 1s;
  world.cycles();
  for (const std::size_t rank : {0u, 2u}) {
    EXPECT_EQ(world[rank].failed.at("x").code, Error::Code::timeout);
    EXPECT_EQ(world[rank].failed.at("x").message,
              "'x' (allreduce of 8 f32, sum) was given up after 30 s: it was not posted by rank 1");
  }
  EXPECT_FALSE(world.post(1, "x"));
}

TEST(Ordering, WhatAllHavePostedInTheEndIsNotGivenUp) {
  Lockstep world(2, limits);
  ASSERT_TRUE(world.post(0, "x"));
  world.cycles();
  world.now += 31s;
  ASSERT_TRUE(world.post(1, "x"));
  world.cycles();
  EXPECT_EQ(world[0].done, Names{"x"});
}

// A rank may post one thing when it has the result of another.
TEST(Ordering, TimeThatCollectivesTakeIsNotWaited) {
  Lockstep world(2, limits);
  ASSERT_TRUE(world.post(0, "long"));
  ASSERT_TRUE(world.post(1, "long"));
  ASSERT_TRUE(world.post(0, "then"));
  world.run_time = 40s;
  world.cycle();
  world.cycle();
  world.run_time = 0s;
  EXPECT_EQ(world[1].done, Names{"long"});
  world.cycles();
  EXPECT_TRUE(world[0].failed.empty());
  EXPECT_TRUE(world[0].warnings.empty());
  ASSERT_TRUE(world.post(1, "then"));
  world.cycles();
  EXPECT_EQ(world[0].done, (Names{"long", "then"}));
}

TEST(Ordering, ANameIsTakenUntilItsEnd) {
  Lockstep world(2, limits);
  ASSERT_TRUE(world.post(0, "x"));
  const auto again = world.post(0, "x");
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Error::Code::invalid_argument);
  EXPECT_EQ(again.error().message.find("'x' is outstanding"), 0u);
  ASSERT_TRUE(world.post(1, "x"));
  world.cycles();
  EXPECT_TRUE(world.post(0, "x"));
}

TEST(Ordering, NamesHaveOneTo255Bytes) {
  Lockstep world(1, limits);
  EXPECT_FALSE(world.post(0, ""));
  EXPECT_TRUE(world.post(0, std::string(255, 'x')));
  EXPECT_FALSE(world.post(0, std::string(256, 'x')));
  world.cycles();
  EXPECT_EQ(world[0].done.size(), 1u);
}

TEST(Ordering, IsOverWhenAllHaveClosedAndNothingIsLeft) {
  Lockstep world(2, limits);
  ASSERT_TRUE(world.post(0, "x"));
  ASSERT_TRUE(world.post(1, "x"));
  world[0].ordering.close(world.now);
  EXPECT_FALSE(world.post(0, "y"));
  world.cycles();
  EXPECT_EQ(world[0].done, Names{"x"});
  EXPECT_FALSE(world[0].ordering.is_over());
  world[1].ordering.close(world.now);
  world.cycle();
  EXPECT_TRUE(world[0].ordering.is_over());
  EXPECT_TRUE(world[1].ordering.is_over());
}

TEST(Ordering, WhatAClosedRankLacksFailsAtOnce) {
  for (const bool known : {false, true}) {
    Lockstep world(3, limits);
    for (std::size_t rank = 0; known && rank < 3; ++rank) {
      ASSERT_TRUE(world.post(rank, "x"));
    }
    world.cycles();
    world[1].ordering.close(world.now);
    ASSERT_TRUE(world.post(0, "x"));
    world.cycles();
    EXPECT_EQ(world[0].failed.at("x").message,
              "'x' (allreduce of 8 f32, sum) cannot be carried out: rank 1 closed the queue "
              "without having posted it");
    world.close_all();
    world.cycles();
    EXPECT_TRUE(world[0].ordering.is_over());
  }
}

// Neither rank has posted what the other waits for, and both have closed.
TEST(Ordering, ClosedRanksDoNotWaitForEachOther) {
  Lockstep world(2, limits);
  ASSERT_TRUE(world.post(0, "x"));
  ASSERT_TRUE(world.post(1, "y"));
  world.close_all();
  world.cycles();
  EXPECT_EQ(world[0].failed.count("x"), 1u);
  EXPECT_EQ(world[1].failed.count("y"), 1u);
  EXPECT_TRUE(world[0].ordering.is_over());
}

TEST(Ordering, ARankThatHasClosedDoesNotWaitForEver) {
  Lockstep world(3, limits);
  world[0].ordering.close(world.now);
  world.now += 29s;
  world.cycle();
  EXPECT_FALSE(world[0].ended);
  world.now += 1s;
  world.cycle();
  ASSERT_TRUE(world[0].ended);
  EXPECT_EQ(
      world[0].ended->message.find("the queue is closed here, but for 30 s not on ranks 1, 2"), 0u)
      << world[0].ended->message;
  EXPECT_FALSE(world[1].ended);
}

TEST(Ordering, AbandonedWorkEndsWithTheError) {
  Lockstep world(2, limits);
  ASSERT_TRUE(world.post(0, "x"));
  world[0].ordering.abandon(Error{Error::Code::network, "gone"});
  const auto outcomes = world[0].ordering.take_outcomes();
  ASSERT_EQ(outcomes.size(), 1u);
  EXPECT_EQ(outcomes[0].name, "x");
  EXPECT_EQ(outcomes[0].result.error().message, "gone");
}

// A rank with a new posting begins a cycle at once, one that waits soon, and an idle one after a
// while.
TEST(Ordering, PacesItsCycles) {
  Lockstep world(2, limits);
  auto& idle = world[0].ordering;
  EXPECT_EQ(idle.next(), world.now + 50ms);
  auto& waiting = world[1].ordering;
  ASSERT_TRUE(world.post(1, "x"));
  EXPECT_EQ(waiting.next(), world.now);
  world.cycle();  // announced
  EXPECT_EQ(waiting.next(), world.now + 1ms);
  for (const auto pause : {2ms, 4ms, 8ms, 8ms}) {
    world.cycle();
    EXPECT_EQ(waiting.next(), world.now + pause);
  }
  ASSERT_TRUE(world.post(0, "x"));
  EXPECT_EQ(idle.next(), world.now);
  world.cycle();
  EXPECT_EQ(idle.next(), world.now + 50ms);

  const Ordering impatient(0, 2, {10s, 80ms}, world.now);
  EXPECT_EQ(impatient.next(), world.now + 10ms);
}

// Names that never come back do not let the votes grow for ever, and one that was forgotten is
// announced again.
TEST(Ordering, ForgetsNamesThatEndedLongAgo) {
  Lockstep world(2, limits);
  const auto carry_out = [&](const std::string& name) {
    ASSERT_TRUE(world.post(0, name));
    ASSERT_TRUE(world.post(1, name));
    world.cycle();
    world.cycle();
  };
  for (int i = 0; i < 3000; ++i) {
    carry_out(std::to_string(i));
  }
  EXPECT_EQ(world[0].done.size(), 3000u);
  EXPECT_EQ(world[0].ordering.vote(world.now).size(), 3u + 2 * 1024 / 64);
  world[1].ordering.vote(world.now);
  carry_out("0");
  EXPECT_EQ(world[1].done.back(), "0");
  EXPECT_EQ(world.announcements, 3001);
}

// Whatever and whenever ranks post, all carry out the same collectives in one order, and none is
// lost.
TEST(Ordering, RandomPostingsRunAlikeOnAllRanks) {
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    std::mt19937 random(seed);
    Lockstep world(4, limits);
    constexpr int rounds = 5;
    std::vector<Names> plans(4);
    for (auto& plan : plans) {
      for (int i = 0; i < 20; ++i) {
        plan.insert(plan.end(), rounds, std::to_string(i));
      }
      std::shuffle(plan.begin(), plan.end(), random);
    }
    for (int step = 0; step < 8000; ++step) {
      const auto rank = random() % 4;
      auto& plan = plans[rank];
      if (!plan.empty() && world.post(rank, plan.back())) {
        plan.pop_back();
      } else if (!plan.empty()) {
        std::rotate(plan.begin(), plan.end() - 1, plan.end());  // outstanding: another one first
      }
      if (random() % 4 == 0) {
        world.cycle();
      }
    }
    world.cycles();
    EXPECT_EQ(world[0].done.size(), 20u * rounds) << "seed " << seed;
    for (auto& rank : world.ranks()) {
      EXPECT_EQ(rank.done, world[0].done) << "seed " << seed;
      EXPECT_TRUE(rank.failed.empty());
    }
  }
}

}  // namespace
}  // namespace tributary::host::test
