// SPDX-License-Identifier: BSD-3-Clause
// What is lost, and comes again.
#include "fixture.h"

namespace tributary::panama {
namespace {

class Repeats : public PanamaTest {};

TEST_F(Repeats, ARepeatedPacketIsNotAddedTwice) {
  const auto tree = root_of(2);
  start({tree});
  feed(from(tree, 0), Ints{5});
  expect_drop(again(from(tree, 0)), DropReason::panama_duplicate);
  const auto sent = feed(from(tree, 1), Ints{6});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{11});
}

TEST_F(Repeats, TheRootReplaysAResultToWhoLostItAlone) {
  const auto tree = root_of(3);
  start({tree});
  for (const auto port : tree.children) {
    feed(from(tree, port), Ints{1, 2, 3});
  }
  expect_drop(from(tree, 1), DropReason::panama_duplicate);
  const auto sent = feed(again(from(tree, 1)));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, 1);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), (Ints{3, 6, 9}));
  EXPECT_EQ(Seen(sent[0]).header().kind, wire::PanamaKind::result);
  EXPECT_EQ(harness->figure("replays_total"), 1u);
}

TEST_F(Repeats, AResultIsReplayedAfterItsEpochEnded) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0, true);
  auto spec = again(from(tree, 1));
  spec.fin = true;
  EXPECT_EQ(feed(spec).size(), 1u);
  EXPECT_EQ(round(tree, 0, true, 1).size(), 2u);
  spec.epoch = 1;
  EXPECT_EQ(feed(spec).size(), 1u);
  spec.epoch = 0;
  EXPECT_TRUE(feed(spec).empty()) << "who is in the next epoch has the result";
}

TEST_F(Repeats, ASumWhoseResultIsMissingGoesUpAgainButNotTooOften) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  feed(from(tree, 0), Ints{5});
  feed(from(tree, 1), Ints{6});
  EXPECT_TRUE(feed(again(from(tree, 0))).empty()) << "sent just now";
  now += 2ms;
  const auto sent = feed(again(from(tree, 0)));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, parent_port);
  const Seen seen(sent[0]);
  EXPECT_TRUE(seen.header().retransmission());
  EXPECT_EQ(seen.header().contributions.value(), 2);
  EXPECT_EQ(seen.elements<std::int32_t>(), Ints{11});
  EXPECT_TRUE(feed(again(from(tree, 1))).empty());
}

TEST_F(Repeats, ASwitchInTheMiddleReplaysTheResultItself) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  feed(as_result(from(tree, 0)), Ints{44});
  now += 2ms;
  const auto sent = feed(again(from(tree, 1)));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].port, 1);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{44});
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 4);
}

TEST_F(Repeats, AResultThatComesTwiceGoesDownOnce) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  EXPECT_EQ(feed(as_result(from(tree, 0))).size(), 2u);
  expect_drop(as_result(from(tree, 0)), DropReason::panama_duplicate);
}

TEST_F(Repeats, AResultThatDoesNotFitTheSumIsRefused) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  auto spec = as_result(from(tree, 0));
  spec.op = wire::Operator::max;
  expect_drop(spec, DropReason::panama_mismatch);
  spec = as_result(from(tree, 0));
  spec.ttl = 1;
  expect_drop(spec, DropReason::ttl_exceeded);
  spec.ttl = 2;
  EXPECT_EQ(feed(spec).size(), 2u);
}

TEST_F(Repeats, AnOlderEpochIsStale) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0, true, 4);
  auto spec = from(tree, 0);
  spec.epoch = 5;
  feed(spec);
  spec.epoch = 3;
  expect_drop(spec, DropReason::panama_stale);
  spec.epoch = 5;
  spec.ingress = 1;
  EXPECT_EQ(feed(spec).size(), 2u);
}

TEST_F(Repeats, ANewerEpochDropsWhatWaitedForTheOldOne) {
  const auto tree = root_of(2);
  start({tree});
  feed(from(tree, 0), Ints{5});
  EXPECT_EQ(round(tree, 0, true, 1).size(), 2u);
  EXPECT_EQ(harness->figure("packets_held"), 0u);
}

// A job that is started again counts its epochs from zero.
TEST_F(Repeats, AnotherRunOfTheJobIsToldFromTheLastByItsFingerprints) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0);
  round(tree, 1, true);
  for (const std::uint32_t vid : {0u, 1u}) {
    auto spec = from(tree, 0, vid);
    spec.fingerprint ^= 0xabcd;
    spec.fin = vid == 1;
    EXPECT_TRUE(feed(spec, Ints{100}).empty());
    spec.ingress = 1;
    const auto sent = feed(spec, Ints{1});
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{101});
  }
}

TEST_F(Repeats, ARunThatWasCutOffIsForgottenWhenItIsSilent) {
  const auto tree = root_of(2);
  start({tree});
  round(tree, 0, true, 9);
  auto spec = from(tree, 0);
  spec.epoch = 10;
  feed(spec);
  spec = from(tree, 0);
  expect_drop(spec, DropReason::panama_stale);
  now += 2s;
  EXPECT_EQ(round(tree, 0).size(), 2u);
}

// A stray packet has begun an epoch of the past again, which then was left at once.
TEST_F(Repeats, AStrayResultTakesNoPlaceInTheEpochThatFollowed) {
  const auto tree = leaf_of(1, 2);
  start({tree}, 2);
  const auto spec_of = [&](std::uint32_t epoch, std::uint32_t vid) {
    auto spec = from(tree, 0, vid);
    spec.epoch = epoch;
    spec.fin = epoch == 1 && vid == 9;
    return spec;
  };
  const auto send = [&](std::uint32_t epoch, std::uint32_t vid) { feed(spec_of(epoch, vid)); };
  const auto answer = [&](std::uint32_t epoch, std::uint32_t vid) {
    return feed(as_result(spec_of(epoch, vid))).size();
  };
  for (std::uint32_t vid = 0; vid < 10; ++vid) {
    send(1, vid);
    EXPECT_EQ(answer(1, vid), 1u);
  }
  send(1, 1);
  for (std::uint32_t vid = 0; vid < 4; ++vid) {
    send(2, vid);
    if (vid == 3) {
      EXPECT_EQ(answer(1, 9), 0u);
    }
    EXPECT_EQ(answer(2, vid), 1u) << vid;
  }
}

TEST_F(Repeats, TheLastResultOfAnEpochThatIsOverDoesNotEndTheNext) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  ASSERT_EQ(round(tree, 0, true, 1).size(), 1u);
  ASSERT_EQ(round(tree, 0, false, 2).size(), 1u);
  auto last = as_result(from(tree, 0));
  last.epoch = 1;
  last.fin = true;
  EXPECT_EQ(feed(last).size(), 2u);
  EXPECT_EQ(round(tree, 1, false, 2).size(), 1u);
}

TEST_F(Repeats, AResultBeyondAllWindowsIsStale) {
  const auto tree = leaf_of(2, 4);
  start({tree}, 16);
  feed(from(tree, 0));
  for (const std::uint32_t vid : {32u, 0xffffffffu}) {
    expect_drop(as_result(from(tree, 0, vid)), DropReason::panama_stale);
  }
  EXPECT_EQ(feed(as_result(from(tree, 0, 31))).size(), 2u);
  EXPECT_EQ(feed(from(tree, 1)).size(), 1u);
}

// A stray packet made the tree leave the epoch that the job is in, after a long silence.
TEST_F(Repeats, AnEpochThatWasLeftForAStrayPacketGoesOn) {
  const auto tree = root_of(2);
  start({tree}, 2);
  for (std::uint32_t vid = 0; vid < 6; ++vid) {
    round(tree, vid, vid == 5, 1);
  }
  for (std::uint32_t vid = 0; vid < 3; ++vid) {
    round(tree, vid, false, 2);
  }
  now += 2s;
  auto stray = from(tree, 0, 1);
  stray.epoch = 1;
  EXPECT_TRUE(feed(stray).empty());
  EXPECT_EQ(round(tree, 3, false, 2).size(), 2u);
}

TEST_F(Repeats, ASwitchThatStartsInTheMiddleGoesOnWithWhatComes) {
  const auto tree = root_of(2);
  start({tree});
  for (const std::uint32_t vid : {500u, 501u, 502u, 503u}) {
    EXPECT_EQ(round(tree, vid, vid == 503, 3).size(), 2u);
  }
  EXPECT_EQ(harness->figure("trees_active"), 0u);
}

TEST_F(Repeats, VidsAtTheEndsOfTheirRangeAreHarmless) {
  const auto tree = root_of(2);
  start({tree});
  for (const std::uint32_t vid : {0xffffffffu, 0u, 0x80000000u, 1u}) {
    feed(from(tree, 0, vid));
  }
  EXPECT_EQ(round(tree, 0, true, 1).size(), 2u);
}

}  // namespace
}  // namespace tributary::panama
