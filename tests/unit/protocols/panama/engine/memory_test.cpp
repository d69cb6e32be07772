// SPDX-License-Identifier: BSD-3-Clause
// Tests the window cap and the memory that it promises (4.2.2).
#include "fixture.h"
#include "protocols/panama/engine/drop_reasons.h"

namespace tributary::panama {
namespace {

class Memory : public PanamaTest {
 protected:
  // Returns roots of trees of the jobs 8, 9, ...
  static std::vector<TreeConfig> roots(std::uint32_t count) {
    std::vector<TreeConfig> trees;
    for (std::uint32_t job = 8; job < 8 + count; ++job) {
      trees.push_back(root_of(2, 0, job));
    }
    return trees;
  }
  // One worker of `a` has sent as much as the memory holds, the other only its first packet.
  void start_full() {
    start({a}, 8);
    round(a, 0);
    for (std::uint32_t vid = 1; vid <= 8; ++vid) {
      feed(from(a, 0, vid));
    }
  }
  void reconfigure(std::vector<TreeConfig> trees) {
    config.trees = std::move(trees);
    ASSERT_TRUE(engine->reconfigure(config));
  }
  // Returns the number of results that come when worker 0 sends the last packet of its epoch again.
  std::size_t replays(const TreeConfig& tree, std::uint32_t last) {
    auto spec = from(tree, 0, last);
    spec.fin = true;
    const auto sent = feed(again(spec));
    return static_cast<std::size_t>(std::count_if(sent.begin(), sent.end(), [](const auto& one) {
      return Seen(one).header().kind == wire::PanamaKind::result;
    }));
  }

  const TreeConfig a = root_of(2, 0, 7);
  const TreeConfig b = root_of(2, 0, 8);
};

TEST_F(Memory, IsDividedAmongActiveTrees) {
  start({a, b}, 20);
  EXPECT_EQ(cap_of(round(a, 0)), 18u) << "all but the initial window of the other";
  EXPECT_EQ(cap_of(round(b, 0)), 2u) << "nothing has been given back yet";
  EXPECT_EQ(cap_of(round(a, 1)), 10u) << "2 + 16 / 2";
  for (std::uint32_t vid = 2; vid < 20; ++vid) {
    EXPECT_EQ(cap_of(round(a, vid)), 10u);
    EXPECT_EQ(cap_of(round(b, vid - 1)), 2u);
  }
  round(a, 20);
  EXPECT_EQ(cap_of(round(b, 19)), 10u) << "what was sent under the old cap is through";
}

TEST_F(Memory, AJobHasNoMoreOfItForHavingMoreTrees) {
  const auto second = root_of(2, 1, 7);
  start({a, second, b}, 22);
  for (std::uint32_t vid = 0; vid < 60; ++vid) {
    round(a, vid);
    round(second, vid);
    round(b, vid);
  }
  EXPECT_EQ(cap_of(round(a, 60)), 6u) << "2 + 16 / 2 / 2";
  EXPECT_EQ(cap_of(round(second, 60)), 6u);
  EXPECT_EQ(cap_of(round(b, 60)), 10u) << "2 + 16 / 2";
}

// The others need not wait for a worker that is left out. It has sent all that it might under the
// old cap, and has only the first result.
TEST_F(Memory, IsNotGivenBackBeforeWhoIsLeftOutObeysTheNewCap) {
  auto partial = root_of(3, 0, 7);
  partial.quorum = 2;
  start({partial, b}, 20);
  round(partial, 0);
  EXPECT_EQ(figure_of(engine->trees()[0], "granted_packets"), 18u);
  round(b, 0);
  round(partial, 1);
  for (std::uint32_t vid = 2; vid < 19; ++vid) {
    feed(from(partial, 2, vid));
  }
  for (std::uint32_t vid = 2; vid < 22; ++vid) {
    feed(from(partial, 0, vid));
    feed(from(partial, 1, vid));
  }
  EXPECT_EQ(cap_of(round(b, 1)), 2u);
  EXPECT_EQ(feed(again(from(partial, 2, 1))).size(), 1u) << "kept for who lacks it";
  for (std::uint32_t vid = 19; vid < 40; ++vid) {
    round(partial, vid);
  }
  EXPECT_EQ(cap_of(round(b, 2)), 10u);
}

TEST_F(Memory, IsGivenBackByAnEpochThatEnds) {
  start({a, b}, 20);
  round(a, 0);
  round(b, 0);
  round(a, 1, true);
  EXPECT_EQ(harness->figure("packets_granted"), 4u);
  EXPECT_EQ(cap_of(round(b, 1)), 18u);
  EXPECT_EQ(harness->figure("wnd_cap"), 18u);
}

TEST_F(Memory, TheLeastCapOfAllSwitchesIsKept) {
  const auto tree = leaf_of(2, 4);
  start({tree}, 16);
  auto spec = from(tree, 0);
  spec.wnd_cap = 5;
  feed(spec);
  EXPECT_EQ(cap_of(feed(from(tree, 1))), 5u);
  EXPECT_EQ(cap_of(round(tree, 1)), 16u);
}

TEST_F(Memory, WhatIsBeyondTheGrantIsDroppedAtItsPortAlone) {
  const auto tree = root_of(2);
  start({tree}, 4);
  round(tree, 0);
  for (std::uint32_t vid = 1; vid < 5; ++vid) {
    feed(from(tree, 0, vid));
  }
  expect_drop(from(tree, 0, 5), drop::over_cap);
  EXPECT_EQ(harness->figure("packets_held"), 4u);
  EXPECT_EQ(harness->figure("over_cap_total"), 1u);
  EXPECT_EQ(feed(from(tree, 1, 1)).size(), 2u);
  EXPECT_TRUE(feed(from(tree, 0, 5)).empty());
  EXPECT_EQ(harness->figure("packets_held_high_water"), 4u);
}

TEST_F(Memory, ASilentJobLeavesItsShareToTheOthersUntilItGoesOn) {
  start({a, b}, 20);
  round(a, 0);
  feed(from(a, 0, 1));
  EXPECT_LE(engine->deadline(), now + 1s);
  now += 11s;
  round(b, 0);
  EXPECT_TRUE(harness->expire(now).empty());
  EXPECT_EQ(harness->figure("trees_active"), 1u);
  EXPECT_EQ(cap_of(round(b, 1)), 18u);
  EXPECT_EQ(feed(from(a, 1, 1)).size(), 2u) << "what waits is not forgotten";
  EXPECT_EQ(harness->figure("trees_active"), 2u);
  now += 20s;
  harness->expire(now);
  EXPECT_EQ(engine->deadline(), never);
  EXPECT_EQ(harness->figure("packets_kept"), 0u);
}

TEST_F(Memory, AJobThatAsksForWhatItWaitsForIsNotSilent) {
  const auto tree = root_of(2);
  start({tree}, 20);
  round(tree, 0);
  feed(from(tree, 0, 1));
  for (int i = 0; i < 3; ++i) {
    now += 6s;
    feed(again(from(tree, 0, 1)));
    harness->expire(now);
  }
  EXPECT_EQ(harness->figure("trees_active"), 1u);
  EXPECT_EQ(feed(again(from(tree, 1, 0))).size(), 1u) << "kept for who lacks it";
}

// One of its members hangs, and the others go on asking.
TEST_F(Memory, AJobThatStandsStillMakesRoomForATreeThatHasNone) {
  start_full();
  reconfigure({a, b});
  expect_drop(from(b, 0), drop::over_cap);
  now += 6s;
  feed(again(from(a, 0, 1)));
  harness->expire(now);
  expect_drop(from(b, 0), drop::over_cap);
  now += 5s;
  harness->expire(now);
  EXPECT_EQ(round(b, 0).size(), 2u);
  for (const std::uint32_t vid : {7u, 8u}) {
    expect_drop(from(a, 0, vid), drop::over_cap);
  }
  EXPECT_EQ(round(a, 1).size(), 2u) << "the first that wait have room";
}

// The job rests when the new tree comes.
TEST_F(Memory, AJobThatLeftMakesRoomForATreeThatHasNone) {
  start_full();
  now += 11s;
  harness->expire(now);
  EXPECT_EQ(engine->deadline(), never);
  reconfigure({a, b});
  expect_drop(from(b, 0), drop::over_cap);
  ASSERT_LE(engine->deadline(), now + 1s);
  now = engine->deadline();
  harness->expire(now);
  EXPECT_EQ(round(b, 0).size(), 2u);
}

// The trees need no more buffers than docs/reference/configuration-engines.md asks for, however
// many trees have just come to rest.
TEST_F(Memory, WhatIsKeptAndWhatWaitsIsBounded) {
  constexpr std::uint32_t packet_memory = 100;
  const auto trees = roots(25);
  start(trees, packet_memory);
  for (const auto& tree : trees) {
    for (std::uint32_t vid = 0; vid < 80; ++vid) {
      ASSERT_EQ(round(tree, vid, vid == 79).size(), 2u);
      ASSERT_LE(pool.outstanding(), (self.ports + 2) * packet_memory);
    }
    now += 1ms;
  }
  EXPECT_EQ(replays(trees.front(), 79), 0u) << "who rests longest forgets first";
  EXPECT_EQ(replays(trees.back(), 79), 1u);
  EXPECT_EQ(replays(trees[trees.size() - 10], 79), 1u);
}

// A result that comes from below goes down, and from what is kept then it goes up.
TEST_F(Memory, AResultFromBelowGoesUpWhereThereIsNoRoomLeft) {
  const auto leaf = leaf_of(2, 4);
  auto trees = roots(31);
  trees.insert(trees.begin(), leaf);
  start(trees, 120);  // which 25 of these trees exceed
  const auto result_of = [&](std::uint32_t vid) {
    auto result = as_result(from(leaf, 0, vid));
    result.fin = vid == 39;
    return result;
  };
  for (std::uint32_t vid = 0; vid < 40; ++vid) {
    round(leaf, vid, vid == 39);
    feed(result_of(vid));
  }
  for (std::size_t tree = 8; tree < trees.size(); ++tree) {
    for (std::uint32_t vid = 0; vid < 80; ++vid) {
      round(trees[tree], vid, vid == 79);
    }
    now += 1ms;
  }
  // What was kept last is the first that its tree forgets.
  for (std::uint32_t vid = 40; vid-- > 0;) {
    auto result = result_of(vid);
    result.ingress = 0;
    EXPECT_EQ(feed(result).size(), 3u) << "to both children and up";
  }
}

// Repeats of a rank that lost its result get lost as well, and a rank that is left out may begin
// seconds after the others have ended.
TEST_F(Memory, WhatTreesKeepThatRestIsThereAsLongAsThereIsRoom) {
  const auto trees = roots(5);
  start(trees, 32);
  for (const auto& tree : trees) {
    for (std::uint32_t vid = 0; vid < 40; ++vid) {
      round(tree, vid, vid == 39);
    }
    now += 1500ms;
  }
  EXPECT_GT(harness->figure("packets_kept"), 64u);
  for (const auto& tree : trees) {
    EXPECT_EQ(replays(tree, 39), 1u) << tree.job;
  }
}

TEST_F(Memory, ResultsThatNobodyCanLackAreLetGo) {
  const auto tree = root_of(2);
  start({tree}, 8);
  for (std::uint32_t vid = 0; vid < 100; ++vid) {
    round(tree, vid);
    EXPECT_LE(harness->figure("packets_kept"), 9u);
  }
  EXPECT_LE(pool.outstanding(), 9u);
}

TEST_F(Memory, TreesComeAndGoWithoutDisturbingOthers) {
  start({a}, 20);
  round(a, 0);
  feed(from(a, 0, 1), Ints{5});
  reconfigure({a, b});
  EXPECT_EQ(harness->figure("packets_granted"), 20u) << "all of it is promised";
  EXPECT_EQ(Seen(feed(from(a, 1, 1), Ints{6})[0]).elements<std::int32_t>(), Ints{11});
  for (std::uint32_t vid = 2; vid < 30; ++vid) {
    round(a, vid);
  }
  EXPECT_EQ(round(b, 0).size(), 2u);
  feed(from(b, 0, 1));
  reconfigure({a});
  expect_drop(from(b, 1, 1), drop::no_tree);
  EXPECT_EQ(harness->figure("packets_held"), 0u);
  EXPECT_EQ(harness->figure("trees"), 1u);
  config.packet_memory = 21;
  EXPECT_FALSE(engine->reconfigure(config));
}

TEST_F(Memory, WithoutBuffersCopiesAreLostAndNothingElse) {
  const auto tree = root_of(2);
  start({tree});
  feed(from(tree, 0));
  EXPECT_LT(feed_without_buffers(from(tree, 1), Ints{1}).size(), 2u);
  EXPECT_GE(harness->losses(DropReason::no_buffer), 1u);
  EXPECT_EQ(feed(again(from(tree, 0, 0))).size(), 1u) << "and replayed";
}

TEST_F(Memory, OperatorsSeeWhoIsMissing) {
  const auto tree = leaf_of(3, 8);
  start({tree});
  EXPECT_EQ(engine->trees()[0].used, std::nullopt);
  round(tree, 0);
  feed(from(tree, 1, 1));
  now += 700ms;
  const auto stalls = engine->stalled(now, 10);
  ASSERT_EQ(stalls.size(), 1u);
  EXPECT_EQ(stalls[0].job, 7u);
  EXPECT_EQ(stalls[0].contributions, 1u);
  EXPECT_EQ(stalls[0].hosts, 8u);
  EXPECT_EQ(stalls[0].missing_ports, (std::vector<PortIndex>{0, 2}));
  const auto rows = engine->descriptors(now, 10);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].children, std::vector<PortIndex>{1});
  EXPECT_EQ(rows[0].age, 700ms);
  ASSERT_EQ(engine->trees().size(), 1u);
  EXPECT_EQ(figure_of(engine->trees()[0], "held_packets"), 1u);
  EXPECT_TRUE(engine->trees()[0].active);
  EXPECT_EQ(engine->trees()[0].used, now - 700ms);
  ASSERT_EQ(engine->jobs().size(), 1u);
  EXPECT_EQ(engine->jobs()[0].contributions, 4u);
}

TEST_F(Memory, OperatorsSeeWhoHasNotBegun) {
  const auto tree = leaf_of(3, 8);
  start({tree});
  auto spec = from(tree, 1);
  spec.epoch = 2;
  feed(spec);
  now += 700ms;
  EXPECT_FALSE(engine->trees()[0].active);
  EXPECT_EQ(engine->trees()[0].used, now - 700ms);
  EXPECT_EQ(figure_of(engine->trees()[0], "held_packets"), 1u);
  const auto stalls = engine->stalled(now, 10);
  ASSERT_EQ(stalls.size(), 1u);
  EXPECT_EQ(stalls[0].attempt, 2u);
  EXPECT_EQ(stalls[0].contributions, 1u);
  EXPECT_EQ(stalls[0].waiting, 700ms);
  EXPECT_EQ(stalls[0].missing_ports, (std::vector<PortIndex>{0, 2}));
  EXPECT_EQ(engine->descriptors(now, 10).size(), 1u);
  for (const auto other : {0, 2}) {
    spec = from(tree, static_cast<PortIndex>(other));
    spec.epoch = 2;
    feed(spec);
  }
  EXPECT_TRUE(engine->stalled(now, 10).empty());
}

}  // namespace
}  // namespace tributary::panama
