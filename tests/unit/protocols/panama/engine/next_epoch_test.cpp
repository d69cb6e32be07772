// SPDX-License-Identifier: BSD-3-Clause
// Tests which packets have a tree go on to another epoch.
#include <random>

#include "fixture.h"
#include "protocols/panama/engine/drop_reasons.h"

namespace tributary::panama {
namespace {

class NextEpoch : public PanamaTest {
 protected:
  static PanamaSpec of(PanamaSpec spec, std::uint32_t run, std::uint32_t epoch) {
    spec.run = run;
    spec.epoch = epoch;
    return spec;
  }
};

TEST_F(NextEpoch, AnEpochBeginsWithItsFirstPacketsFromAllChildren) {
  const auto tree = leaf_of(3, 3);
  start({tree});
  feed(from(tree, 0, 1), Ints{1});
  feed(from(tree, 0, 0), Ints{2});
  expect_drop(from(tree, 0, 2), drop::over_cap);
  expect_drop(from(tree, 0, 1), drop::duplicate);
  feed(from(tree, 1, 0), Ints{30});
  EXPECT_EQ(harness->figure("packets_early"), 3u);
  EXPECT_EQ(harness->figure("trees_active"), 0u);
  auto sent = feed(from(tree, 2, 0), Ints{400});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{432});
  feed(from(tree, 1, 1), Ints{5});
  sent = feed(from(tree, 2, 1), Ints{60});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{66});
}

TEST_F(NextEpoch, LatePacketsOfAnotherRunEndNothing) {
  const auto tree = root_of(2);
  start({tree});
  for (std::uint32_t epoch = 0; epoch < 4; ++epoch) {
    for (std::uint32_t vid = 0; vid < 3; ++vid) {
      feed(of(from(tree, 0, vid), 1, epoch));
      feed(of(from(tree, 0, vid), 7, epoch + 5));
      EXPECT_EQ(feed(of(from(tree, 1, vid), 1, epoch)).size(), vid == 0 ? 0u : 2u);
      // The early packet before it has made room for the stray packet.
      EXPECT_EQ(feed(of(again(from(tree, 0, vid)), 1, epoch)).size(), vid == 0 ? 2u : 1u);
    }
  }
  EXPECT_EQ(harness->drops(drop::stale), 0u);
}

TEST_F(NextEpoch, ANewRunTakesOverFromOneThatAnOldWorkerGoesOnWith) {
  const auto tree = root_of(3);
  start({tree});
  for (PortIndex child = 0; child < 3; ++child) {
    feed(of(from(tree, child), 1, 9));
  }
  feed(of(from(tree, 0, 1), 1, 9));
  feed(of(from(tree, 1, 1), 1, 9));
  for (std::uint32_t vid = 0; vid < 3; ++vid) {
    EXPECT_TRUE(feed(of(from(tree, 0, vid), 2, 0)).empty());
    feed(of(again(from(tree, 1, 1)), 1, 9));
    EXPECT_TRUE(feed(of(from(tree, 1, vid), 2, 0)).empty());
    feed(of(again(from(tree, 0, 1)), 1, 9));
    EXPECT_EQ(feed(of(from(tree, 2, vid), 2, 0)).size(), 3u) << vid;
  }
}

// The first ranks die, and the others have sent all that they may.
TEST_F(NextEpoch, ANewRunTakesOverWhereTheOldOneFilledTheMemory) {
  const auto tree = root_of(3);
  start({tree}, 4);
  std::uint32_t vid = 0;
  for (PortIndex child = 0; child < 3; ++child) {
    feed(of(from(tree, child), 1, 0));
  }
  while (harness->drops(drop::over_cap) == 0) {
    feed(of(from(tree, 0, ++vid), 1, 0));
  }
  feed(of(from(tree, 0), 2, 0));
  feed(of(from(tree, 1), 2, 0));
  EXPECT_EQ(feed(of(from(tree, 2), 2, 0)).size(), 3u);
}

// With one child, all children are there at once.
TEST_F(NextEpoch, ADelayedRepeatBringsNoEpochBackOfWhichTheNextHasResults) {
  const auto tree = leaf_of(1, 4);
  start({tree});
  for (const std::uint32_t epoch : {3u, 4u}) {
    round(tree, 0, false, epoch);
    auto result = as_result(from(tree, 0));
    result.epoch = epoch;
    feed(result);
  }
  feed(of(again(from(tree, 0, 5)), 0, 3));
  EXPECT_EQ(harness->drops(drop::duplicate), 1u);
  EXPECT_EQ(figure_of(engine->trees()[0], "epoch"), 4u);
}

// All ranks have the result that the epoch's late packets would wait for; without this rule a rank
// that obeys was refused.
TEST_F(NextEpoch, ADelayedRepeatOfWhatHadItsResultBringsNoEpochBack) {
  const auto tree = leaf_of(1, 4);
  start({tree}, 4);
  constexpr std::uint32_t vids = 12;
  for (std::uint32_t vid = 0; vid < vids; ++vid) {
    feed(of(from(tree, 0, vid), 1, 3));
    feed(of(as_result(from(tree, 0, vid)), 1, 3));
  }
  feed(of(from(tree, 0), 1, 4));
  for (const std::uint32_t vid : {vids - 4, 0u}) {
    const auto sent = feed(of(again(from(tree, 0, vid)), 1, 3));
    ASSERT_EQ(sent.size(), 1u) << "others are asked";
    EXPECT_EQ(Seen(sent[0]).header().kind, wire::PanamaKind::inquiry);
    EXPECT_EQ(figure_of(engine->trees()[0], "epoch"), 4u) << vid;
  }
  expect_drop(of(from(tree, 0, vids - 1), 1, 3), drop::duplicate);
}

// Without the other rack no sum can be made, even if ranks of this one may be missing.
TEST_F(NextEpoch, ARackThatIsNoQuorumBeginsNothing) {
  auto tree = root_of(2);
  tree.workers = tree.workers_below = 8;
  tree.quorum = 7;
  start({tree});
  const auto rack = [&](PortIndex child, std::uint32_t epoch) {
    return of(sum_from(tree, child, static_cast<std::uint16_t>(4 * child), 4), 1, epoch);
  };
  feed(rack(0, 0));
  feed(rack(1, 0));
  feed(rack(0, 1));
  EXPECT_EQ(figure_of(engine->trees()[0], "epoch"), 0u);
  feed(rack(1, 1));
  EXPECT_EQ(figure_of(engine->trees()[0], "epoch"), 1u);
}

// The stranger has learned all numbers of the job.
TEST_F(NextEpoch, APortThatLiesAboutTheEpochCostsTheOthersNothing) {
  const auto tree = root_of(4);
  start({tree}, 64);
  std::minstd_rand random(1);
  const auto draw = [&random](std::uint32_t below) {
    return static_cast<std::uint32_t>(random() % below);
  };
  for (std::uint32_t epoch = 0; epoch < 20; ++epoch) {
    for (std::uint32_t vid = 0; vid < 8; ++vid) {
      for (PortIndex child = 1; child < 4; ++child) {
        for (int lies = 0; lies < 5; ++lies) {
          feed(of(from(tree, 0, draw(10)), draw(2), epoch + 1 + draw(3)));
        }
        auto spec = of(from(tree, child, vid), 1, epoch);
        spec.fin = vid == 7;
        EXPECT_TRUE(feed(spec).empty());
      }
      auto spec = of(from(tree, 0, vid), 1, epoch);
      spec.fin = vid == 7;
      EXPECT_EQ(feed(spec).size(), 4u) << epoch << " " << vid;
    }
  }
}

TEST_F(NextEpoch, WhatWaitedInAnEpochThatWasLeftIsLetGoLittleByLittle) {
  const auto tree = root_of(2);
  start({tree}, 256);
  for (std::uint32_t vid = 0; vid < 20; ++vid) {
    round(tree, vid);
  }
  for (std::uint32_t vid = 20; vid < 120; ++vid) {
    feed(from(tree, 0, vid));
  }
  EXPECT_EQ(harness->figure("packets_held"), 100u);
  feed(of(from(tree, 0), 1, 0));
  const auto before = pool.outstanding();
  feed(of(from(tree, 1), 1, 0));
  EXPECT_EQ(harness->figure("packets_held"), 0u);
  EXPECT_GE(pool.outstanding(), before - 8);
  for (std::uint32_t vid = 1; vid < 40; ++vid) {
    const auto held = pool.outstanding();
    feed(of(from(tree, 0, vid), 1, 0));
    EXPECT_GE(pool.outstanding() + 8, held);
    EXPECT_EQ(feed(of(from(tree, 1, vid), 1, 0)).size(), 2u);
  }
  EXPECT_EQ(harness->figure("packets_held"), 0u);
  EXPECT_EQ(pool.outstanding(), harness->figure("packets_kept"));
}

TEST_F(NextEpoch, WhatIsLeftOfItIsLetGoWhenTheTreeRests) {
  const auto tree = root_of(2);
  start({tree}, 256);
  for (std::uint32_t vid = 0; vid < 20; ++vid) {
    round(tree, vid);
  }
  for (std::uint32_t vid = 20; vid < 120; ++vid) {
    feed(from(tree, 0, vid));
  }
  feed(of(from(tree, 0), 1, 0));
  feed(of(from(tree, 1), 1, 0));
  EXPECT_GT(pool.outstanding(), 90u);
  now += std::chrono::seconds(11);
  harness->expire(now);
  EXPECT_EQ(pool.outstanding(), harness->figure("packets_kept"));
}

TEST_F(NextEpoch, WhereSomeMayBeMissingAQuorumBeginsButNotAnotherRun) {
  auto tree = root_of(4);
  tree.quorum = 3;
  start({tree});
  for (PortIndex child = 0; child < 3; ++child) {
    EXPECT_EQ(feed(of(from(tree, child), 1, 0)).size(), child == 2 ? 4u : 0u);
  }
  for (PortIndex child = 0; child < 4; ++child) {
    EXPECT_EQ(feed(of(from(tree, child), 2, 0)).size(), child == 3 ? 4u : 0u);
  }
}

TEST_F(NextEpoch, ASwitchThatIsNewBeginsWithTheLowestPacketThatSomebodyLacks) {
  const auto tree = root_of(2);
  start({tree});
  feed(of(again(from(tree, 0, 52)), 1, 3));
  feed(of(from(tree, 1, 51), 1, 3));
  EXPECT_EQ(feed(of(from(tree, 0, 51), 1, 3)).size(), 2u);
  EXPECT_EQ(feed(of(from(tree, 1, 52), 1, 3)).size(), 2u);
}

// A repeat that was overtaken by the next epoch takes a switch with one child back; it forgets the
// sum of VID 0 meanwhile, and VID 1 is complete.
TEST_F(NextEpoch, WhoComesBackToAnEpochRefusesNobodyWhoObeys) {
  const auto tree = leaf_of(1, 2);
  start({tree}, 2);
  const auto nth = [&tree](std::uint32_t epoch, std::uint32_t vid) {
    return of(from(tree, 0, vid), 1, epoch);
  };
  EXPECT_EQ(feed(nth(1, 0)).size(), 1u);
  EXPECT_EQ(feed(nth(2, 0)).size(), 1u);
  EXPECT_EQ(feed(nth(2, 1)).size(), 1u);
  feed(again(nth(1, 0)));
  EXPECT_EQ(feed(as_result(nth(2, 1))).size(), 1u);
  EXPECT_EQ(feed(again(nth(2, 0))).size(), 1u);
  EXPECT_EQ(feed(as_result(nth(2, 0))).size(), 1u);
  for (std::uint32_t vid = 2; vid < 12; vid += 2) {
    EXPECT_EQ(feed(nth(2, vid)).size(), 1u) << vid;
    EXPECT_EQ(feed(nth(2, vid + 1)).size(), 1u) << vid;
    EXPECT_EQ(feed(as_result(nth(2, vid))).size(), 1u) << vid;
    EXPECT_EQ(feed(as_result(nth(2, vid + 1))).size(), 1u) << vid;
  }
}

}  // namespace
}  // namespace tributary::panama
