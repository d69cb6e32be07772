// SPDX-License-Identifier: BSD-3-Clause
// Tests partial aggregation (section 7).
#include "fixture.h"
#include "protocols/panama/engine/drop_reasons.h"

namespace tributary::panama {
namespace {

TreeConfig with_quorum(TreeConfig tree, std::uint16_t quorum) {
  tree.quorum = quorum;
  return tree;
}

class Partial : public PanamaTest {};

TEST_F(Partial, TheRootGoesOnWithTheQuorumAndCountsWhoIsLate) {
  const auto tree = with_quorum(root_of(4), 3);
  start({tree});
  feed(from(tree, 0), Ints{1});
  feed(from(tree, 2), Ints{2});
  const auto sent = feed(from(tree, 3), Ints{4});
  ASSERT_EQ(sent.size(), 4u) << "also to who is missing";
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{7});
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 3);
  expect_drop(from(tree, 1), drop::late);
  EXPECT_EQ(harness->figure("late_total"), 1u);
  EXPECT_EQ(harness->figure("partial_sums_total"), 1u);
  EXPECT_EQ(harness->figure("packets_held"), 0u);
}

// The others may be ahead by short collectives, of one packet each.
TEST_F(Partial, WhoIsLateGetsTheResultHoweverFarTheOthersMayGoOn) {
  const auto tree = with_quorum(root_of(2), 1);
  start({tree});
  const auto of_epoch = [&](PortIndex child, std::uint32_t epoch) {
    auto spec = from(tree, child);
    spec.epoch = epoch;
    spec.fin = true;
    return spec;
  };
  EXPECT_EQ(feed(of_epoch(0, 0), Ints{5}).size(), 2u);
  expect_drop(of_epoch(1, 0), drop::late);
  std::uint32_t epoch = 1;
  while (epoch < 100 && !feed(of_epoch(0, epoch)).empty()) {
    ++epoch;
  }
  EXPECT_EQ(epoch, wire::panama_epochs_kept - 1) << "then they wait for the other one";
  const auto sent = feed(again(of_epoch(1, 0)));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, 1);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{5});
}

TEST_F(Partial, WhoIsLateAndLostTheResultGetsIt) {
  const auto tree = with_quorum(root_of(2), 1);
  start({tree});
  EXPECT_EQ(feed(from(tree, 0), Ints{5}).size(), 2u);
  const auto sent = feed(again(from(tree, 1)));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, 1);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{5});
}

// For the switches above the sum may be too late.
TEST_F(Partial, WhoAsksForTheResultAsksAbove) {
  const auto tree = with_quorum(leaf_of(2, 8), 7);
  start({tree});
  const auto unasked = feed(from(tree, 0), Ints{1});
  ASSERT_EQ(unasked.size(), 1u);
  EXPECT_FALSE(Seen(unasked[0]).header().retransmission());
  auto spec = from(tree, 0);
  spec.vid = 1;
  spec.retransmission = true;
  const auto asked = feed(spec, Ints{1});
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_TRUE(Seen(asked[0]).header().retransmission());
}

TEST_F(Partial, AResultAsksForNothing) {
  const auto tree = with_quorum(root_of(2), 1);
  start({tree});
  auto spec = from(tree, 0);
  spec.retransmission = true;
  const auto sent = feed(spec, Ints{5});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_FALSE(Seen(sent[0]).header().retransmission());
}

TEST_F(Partial, AllWorkersAreInWhenTheyComeInTime) {
  const auto tree = with_quorum(leaf_of(3, 8), 7);
  start({tree});
  feed(from(tree, 0), Ints{1});
  const auto early = feed(from(tree, 1), Ints{2});
  ASSERT_EQ(early.size(), 1u) << "one of eight may be missing, and it may be here";
  const auto sent = feed(from(tree, 2), Ints{4});
  ASSERT_EQ(sent.size(), 1u) << "takes the place of the first";
  EXPECT_EQ(sent[0].port, parent_port);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{7});
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 3);
}

TEST_F(Partial, ASumThatTakesThePlaceOfAnotherIsCountedOnce) {
  auto tree = with_quorum(root_of(2), 5);
  tree.workers = tree.workers_below = 6;
  start({tree});
  feed(sum_from(tree, 0, 0, 2), Ints{10});
  EXPECT_TRUE(feed(sum_from(tree, 0, 0, 3), Ints{15}).empty());
  const auto sent = feed(sum_from(tree, 1, 3, 2), Ints{100});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{115});
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 5);
  EXPECT_EQ(harness->figure("packets_held"), 0u);
}

// One of six workers behind two ports may be missing, and each child has left out another one.
TEST_F(Partial, TheRootWaitsForTheQuorumAlsoWhenAllChildrenHaveSent) {
  auto tree = with_quorum(root_of(2), 5);
  tree.workers = tree.workers_below = 6;
  start({tree});
  for (PortIndex child = 0; child < 2; ++child) {
    const auto first = static_cast<std::uint16_t>(3 * child);
    EXPECT_TRUE(feed(sum_from(tree, child, first, 2), Ints{10}).empty()) << "four are not five";
  }
  const auto sent = feed(sum_from(tree, 1, 3, 3), Ints{15});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{25});
}

// A switch between leaves and root has sent its sum up; the sum may still grow from below.
TEST_F(Partial, ALargerSumFollowsOneThatHasGoneOn) {
  auto tree = with_quorum(leaf_of(2, 8), 7);
  tree.workers_below = 6;
  start({tree});
  feed(sum_from(tree, 0, 0, 2), Ints{10});
  ASSERT_EQ(feed(sum_from(tree, 1, 3, 3), Ints{100}).size(), 1u) << "five of six";
  const auto spec = sum_from(tree, 0, 0, 3);
  const auto sent = feed(spec, Ints{15});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, parent_port);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{115});
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 6);
  EXPECT_EQ(harness->figure("replaced_total"), 1u);
  expect_drop(spec, drop::duplicate);
  EXPECT_EQ(harness->figure("packets_held"), 1u) << "until the result is here";
  feed(as_result(from(tree, 0)), Ints{115});
  EXPECT_EQ(harness->figure("packets_held"), 0u);
}

// The header no longer matches the packet that was sent before.
TEST_F(Partial, ALargerSumThatFoundNoBufferIsMadeOnARepeat) {
  const auto tree = with_quorum(leaf_of(3, 8), 7);
  start({tree});
  feed(from(tree, 0), Ints{1});
  ASSERT_EQ(feed(from(tree, 1), Ints{2}).size(), 1u);
  EXPECT_TRUE(feed_without_buffers(from(tree, 2), Ints{4}).empty());
  EXPECT_EQ(harness->losses(DropReason::no_buffer), 1u);
  now += 2ms;
  const auto sent = feed(again(from(tree, 0)), Ints{1});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, parent_port);
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 3);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{7});
}

TEST_F(Partial, ASumOfWhichNothingIsKeptIsMadeAgain) {
  const auto tree = with_quorum(leaf_of(3, 8), 7);
  start({tree});
  feed(from(tree, 0), Ints{1});
  ASSERT_EQ(feed(from(tree, 1), Ints{2}).size(), 1u);
  now += 11s;
  harness->expire(now);
  EXPECT_TRUE(feed_without_buffers(from(tree, 2), Ints{4}).empty());
  const auto sent = feed(again(from(tree, 0)), Ints{1});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 3);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{7});
}

TEST_F(Partial, ASumThatFoundNoBufferIsMadeOnARepeat) {
  const auto tree = with_quorum(leaf_of(3, 8), 7);
  start({tree});
  feed(from(tree, 0), Ints{1});
  EXPECT_TRUE(feed_without_buffers(from(tree, 1), Ints{2}).empty());
  const auto sent = feed(again(from(tree, 0)), Ints{1});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 2);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{3});
}

TEST_F(Partial, WhoIsInNoSumIsToldTheCapOfTheSwitchAboveHim) {
  const auto tree = with_quorum(leaf_of(2, 4), 2);
  start({tree}, 8);
  auto result = as_result(from(tree, 0));
  feed(from(tree, 0));
  result.wnd_cap = 500;
  const auto sent = feed(result);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[1]).header().wnd_cap.value(), 8);
}

// The rank that is left out is a window behind the packets that others complete without it, and
// they may be a window ahead of these.
TEST_F(Partial, WhoIsLeftOutFindsResultsOfThreeWindows) {
  const auto tree = with_quorum(root_of(2), 1);
  start({tree}, 2);
  const auto send = [&](PortIndex rank, std::uint32_t vid) { return feed(from(tree, rank, vid)); };
  for (const std::uint32_t vid : {0, 1}) {
    EXPECT_EQ(send(0, vid).size(), 2u);
  }
  send(1, 1);
  send(1, 2);
  for (const std::uint32_t vid : {2, 3, 4}) {
    EXPECT_EQ(send(0, vid).size(), vid == 2 ? 0u : 2u) << vid;
  }
  send(0, 5);
  const auto sent = feed(again(from(tree, 1, 1)));
  ASSERT_EQ(sent.size(), 1u) << "kept";
  EXPECT_EQ(sent[0].port, 1);
}

TEST_F(Partial, WhoFallsBehindByAWindowIsWaitedFor) {
  const auto tree = with_quorum(root_of(2), 1);
  start({tree}, 8);
  std::uint32_t done = 0;
  for (std::uint32_t vid = 0; vid < 20; ++vid) {
    done += feed(from(tree, 0, vid)).size() == 2;
  }
  EXPECT_EQ(done, 8u);
  const auto sent = feed(from(tree, 1, 3));
  EXPECT_EQ(sent.size(), 8u) << "four rows that waited for it go on";
}

// A switch below the root where two workers have sent as much, and not the same: what came in was
// enough for each sum, and the epoch has gone by.
class PartialLeaf : public PanamaTest {
 protected:
  void SetUp() override {
    start({tree}, 4);
    feed(from(tree, 0, 0));
    feed(from(tree, 1, 1));
    auto last = from(tree, 1, 2);
    last.fin = true;
    EXPECT_EQ(feed(last).size(), 1u);
  }

  void expect_larger_sum() {
    const auto sent = feed(again(from(tree, 1, 0)));
    ASSERT_EQ(sent.size(), 1u);
    EXPECT_EQ(sent[0].port, parent_port);
    EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 2);
  }

  const TreeConfig tree = with_quorum(leaf_of(2, 4), 3);
};

TEST_F(PartialLeaf, WhatComesLateHasRoomUntilTheResultsAreThere) {
  expect_larger_sum();
  EXPECT_EQ(harness->figure("trees_active"), 1u);
  for (const std::uint32_t vid : {0u, 1u, 2u}) {
    auto result = as_result(from(tree, 0, vid));
    result.fin = vid == 2;
    feed(result);
  }
  EXPECT_EQ(harness->figure("packets_held"), 0u);
  EXPECT_EQ(harness->figure("trees_active"), 0u);
}

TEST_F(PartialLeaf, WhatComesLateFindsRoomAlsoAfterALongSilence) {
  now += 11s;
  harness->expire(now);
  EXPECT_EQ(harness->figure("packets_granted"), 2u);
  expect_larger_sum();
}

TEST_F(Partial, SixteenBitElementsAreAddedLateToo) {
  const auto tree = with_quorum(leaf_of(2, 4), 3);
  start({tree});
  auto spec = from(tree, 0);
  spec.type = wire::ElementType::f16;
  EXPECT_EQ(feed(spec, std::vector<std::uint16_t>{0x3c00}).size(), 1u);
  spec = from(tree, 1);
  spec.type = wire::ElementType::f16;
  const auto sent = feed(spec, std::vector<std::uint16_t>{0x4000});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).elements<std::uint16_t>(), std::vector<std::uint16_t>{0x4200});
}

// Others cannot run ahead of a child by more than what is kept for it.
TEST_F(Partial, WhoAnswersMayLackWhatIsBeforeIt) {
  const auto tree = with_quorum(root_of(2), 1);
  start({tree}, 2);
  round(tree, 0);
  feed(from(tree, 0, 1));
  feed(from(tree, 0, 2));
  auto told = as_result(from(tree, 1, 2));
  told.ingress = 1;
  told.answer = true;
  expect_drop(told, drop::duplicate);
  EXPECT_TRUE(feed(from(tree, 0, 3)).empty());
  told.answer = false;
  expect_drop(told, drop::duplicate);
  EXPECT_FALSE(feed(again(from(tree, 0, 3))).empty()) << "it has all up to there";
}

}  // namespace
}  // namespace tributary::panama
