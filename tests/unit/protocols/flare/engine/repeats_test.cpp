// SPDX-License-Identifier: BSD-3-Clause
// Tests packets that are lost and repeated, and results that a switch has forgotten and asks others
// for.
#include "fixture.h"

namespace tributary::flare {
namespace {

class FlareRepeats : public FlareTest {};

TEST_F(FlareRepeats, ARepeatedPacketIsNotAddedTwice) {
  for (const auto& tree : {root_of(2), reproducible(root_of(2))}) {
    start({tree});
    feed(from(tree, 0), Ints{5});
    feed(again(from(tree, 0)), Ints{5});
    EXPECT_EQ(harness->drops(drop::duplicate), 1u);
    const auto sent = feed(from(tree, 1), Ints{6});
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(Seen(sent[0]).ints(), Ints{11});
    EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 2);
  }
}

TEST_F(FlareRepeats, WhoIsMissingIsAskedWhenAnotherOneRepeats) {
  const auto tree = root_of(4);
  start({tree});
  feed(from(tree, 0));
  feed(from(tree, 2));
  EXPECT_TRUE(feed(from(tree, 2)).empty()) << "a packet that the network doubled asks for nothing";
  const auto sent = feed(again(from(tree, 2)));
  ASSERT_EQ(ports_of(sent, FlareKind::inquiry), (Ports{1, 3}));
  const Seen seen(sent[0]);
  EXPECT_EQ(seen.header().block.value(), 0u);
  EXPECT_EQ(seen.header().elements.value(), 0);
  EXPECT_EQ(seen.header().flags, wire::FlareHeader::current_version);
  EXPECT_TRUE(feed(again(from(tree, 0))).empty()) << "asked just now";
  now += 1ms;
  EXPECT_EQ(ports_of(feed(again(from(tree, 0))), FlareKind::inquiry), (Ports{1, 3}));
  EXPECT_EQ(harness->figure("inquiries_sent_total"), 2u);
}

TEST_F(FlareRepeats, AnAnswerToAnInquiryAsksNobody) {
  const auto tree = root_of(3);
  start({tree});
  auto spec = again(from(tree, 0));
  spec.answer = true;
  EXPECT_TRUE(feed(spec).empty());
  EXPECT_TRUE(feed(spec).empty()) << "nor when it comes again";
  feed(from(tree, 1));
  EXPECT_EQ(feed(from(tree, 2)).size(), 3u);
  EXPECT_EQ(ports_of(feed(spec), FlareKind::result), Ports{0}) << "but it is answered";
}

TEST_F(FlareRepeats, TheRootSendsAResultAgainToWhoLostItAlone) {
  const auto tree = root_of(3);
  start({tree});
  for (const auto port : tree.children) {
    feed(from(tree, port), Ints{1, 2, 3});
  }
  expect_drop(from(tree, 1), drop::duplicate);
  const auto sent = feed(again(from(tree, 1)));
  ASSERT_EQ(ports_of(sent, FlareKind::result), Ports{1});
  EXPECT_EQ(Seen(sent[0]).ints(), (Ints{3, 6, 9}));
  EXPECT_EQ(Seen(sent[0]).header().contributions.value(), 3);
  EXPECT_EQ(harness->figure("replays_total"), 1u);
}

TEST_F(FlareRepeats, ASwitchInTheMiddleSendsTheResultAgainItself) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  feed(as_result(from(tree, 0)), Ints{44});
  const auto sent = feed(again(from(tree, 1)));
  ASSERT_EQ(ports_of(sent, FlareKind::result), Ports{1});
  EXPECT_EQ(Seen(sent[0]).ints(), Ints{44});
  EXPECT_EQ(Seen(sent[0]).frame.ipv4->ttl, 64);
}

TEST_F(FlareRepeats, ASumWhoseResultIsMissingGoesUpAgainButNotTooOften) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  feed(from(tree, 0), Ints{5});
  feed(from(tree, 1), Ints{6});
  EXPECT_TRUE(feed(again(from(tree, 0))).empty()) << "sent just now";
  now += 1ms;
  auto answer = again(from(tree, 0));
  answer.answer = true;
  EXPECT_TRUE(feed(answer).empty()) << "asks for nothing";
  const auto sent = feed(again(from(tree, 0)));
  ASSERT_EQ(ports_of(sent, FlareKind::contribution), Ports{parent_port});
  const Seen seen(sent[0]);
  EXPECT_TRUE(seen.header().asks());
  EXPECT_EQ(seen.header().contributions.value(), 2);
  EXPECT_EQ(seen.ints(), Ints{11});
  EXPECT_TRUE(feed(again(from(tree, 1))).empty());
  EXPECT_EQ(harness->figure("sums_resent_total"), 1u);
}

TEST_F(FlareRepeats, AResultThatComesTwiceGoesDownOnce) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  EXPECT_EQ(feed(as_result(from(tree, 0))).size(), 2u);
  expect_drop(as_result(from(tree, 0)), drop::duplicate);
  expect_drop(as_result(from(tree, 0), 1), drop::duplicate);
}

TEST_F(FlareRepeats, AResultEndsWhatGathers) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  feed(from(tree, 0), Ints{5});
  EXPECT_EQ(ports_of(feed(as_result(from(tree, 0)), Ints{44}), FlareKind::result), (Ports{0, 1}));
  EXPECT_EQ(harness->figure("blocks_gathering"), 0u);
  EXPECT_EQ(harness->figure("buffers_in_use"), 1u);
  expect_drop(from(tree, 1), drop::duplicate);
}

TEST_F(FlareRepeats, AResultThatHasPassedItsLastHopIsDropped) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  auto spec = as_result(from(tree, 0));
  spec.ttl = 1;
  expect_drop(spec, DropReason::ttl_exceeded);
  spec.ttl = 2;
  const auto sent = feed(spec);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).frame.ipv4->ttl, 1);
}

TEST_F(FlareRepeats, AfterARestartWhoAsksIsAnsweredByWhoHasTheResult) {
  const auto tree = root_of(3);
  start({tree});
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 500))), FlareKind::inquiry), (Ports{1, 2}));
  auto answer = as_result(from(tree, 1, 500), 1);
  answer.answer = true;
  const auto sent = feed(answer, Ints{9});
  ASSERT_EQ(ports_of(sent, FlareKind::result), (Ports{0, 2})) << "who sent it has it";
  EXPECT_EQ(Seen(sent[0]).ints(), Ints{9});
  EXPECT_EQ(Seen(sent[0]).header().flags, wire::FlareHeader::current_version);
  EXPECT_EQ(harness->figure("answers_total"), 1u);
  answer.ingress = 2;
  expect_drop(answer, drop::duplicate);
}

TEST_F(FlareRepeats, AfterARestartWhatNobodyHasIsMadeAgain) {
  const auto tree = root_of(2);
  start({tree});
  EXPECT_EQ(ports_of(feed(again(from(tree, 0, 500)), Ints{1}), FlareKind::inquiry), Ports{1});
  auto answer = again(from(tree, 1, 500));
  answer.answer = true;
  const auto sent = feed(answer, Ints{6});
  ASSERT_EQ(ports_of(sent, FlareKind::result), (Ports{0, 1}));
  EXPECT_EQ(Seen(sent[0]).ints(), Ints{7});
}

TEST_F(FlareRepeats, AResultFromBelowIsNewsToThoseAbove) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  feed(about(from(tree, 1)));
  const auto sent = feed(as_result(from(tree, 1), 1), Ints{9});
  ASSERT_EQ(ports_of(sent, FlareKind::result), (Ports{0, parent_port}));
  EXPECT_FALSE(Seen(sent[0]).header().answers());
  EXPECT_TRUE(Seen(sent[1]).header().answers());
  EXPECT_EQ(Seen(sent[1]).ints(), Ints{9});
}

// The switch above takes none that it has not asked for. If it was restarted, too, it asks later.
TEST_F(FlareRepeats, AResultForWhichTheParentHasNotAskedStaysBelow) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  EXPECT_EQ(ports_of(feed(again(from(tree, 0))), FlareKind::inquiry), Ports{1});
  EXPECT_EQ(ports_of(feed(as_result(from(tree, 1), 1), Ints{9}), FlareKind::result), Ports{0});
  EXPECT_EQ(ports_of(feed(about(from(tree, 0))), FlareKind::result), Ports{parent_port});
}

TEST_F(FlareRepeats, TheParentMayAskWhenChildrenWereAskedAlready) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  feed(again(from(tree, 0)));
  EXPECT_TRUE(feed(about(from(tree, 0))).empty()) << "asked just now";
  EXPECT_EQ(ports_of(feed(as_result(from(tree, 1), 1), Ints{9}), FlareKind::result),
            (Ports{0, parent_port}));
}

// Whoever sends a result before all have contributed would end the block for all.
TEST_F(FlareRepeats, AChildThatWasNotAskedHasNoResult) {
  const auto tree = root_of(3);
  start({tree});
  feed(from(tree, 0));
  expect_drop(as_result(from(tree, 2), 2), drop::unasked);
  expect_drop(as_result(from(tree, 2, 1), 2), drop::unasked);
  EXPECT_EQ(ports_of(feed(again(from(tree, 0))), FlareKind::inquiry), (Ports{1, 2}));
  expect_drop(as_result(from(tree, 0)), drop::wrong_port);
  expect_drop(as_result(from(tree, 0), 0), drop::unasked);
  feed(from(tree, 2));
  EXPECT_EQ(feed(as_result(from(tree, 2), 2)).size(), 2u) << "after its contribution, too";
}

TEST_F(FlareRepeats, WhoWasAskedInAnotherRunWasNotAsked) {
  const auto tree = root_of(3);
  start({tree});
  feed(again(from(tree, 0)));
  feed(of_run(from(tree, 0), 2));
  expect_drop(of_run(as_result(from(tree, 1), 1), 2), drop::unasked);
}

// One half of them came when the other half had been asked for.
TEST_F(FlareRepeats, AllThatWereAskedMayAnswer) {
  const auto tree = leaf_of(3, 4);
  start({tree});
  EXPECT_EQ(feed(about(from(tree, 0))).size(), 3u);
  feed(from(tree, 0));
  now += 1ms;
  EXPECT_EQ(ports_of(feed(about(from(tree, 0))), FlareKind::inquiry), (Ports{1, 2}));
  EXPECT_EQ(feed(as_result(from(tree, 0), 0)).size(), 3u);
}

TEST_F(FlareRepeats, ASwitchBelowAnswersWithTheResult) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  feed(as_result(from(tree, 0)), Ints{44});
  const auto sent = feed(about(from(tree, 0)));
  ASSERT_EQ(ports_of(sent, FlareKind::result), Ports{parent_port});
  EXPECT_TRUE(Seen(sent[0]).header().answers());
  EXPECT_EQ(Seen(sent[0]).ints(), Ints{44});
  EXPECT_EQ(harness->figure("inquiries_total"), 1u);
}

TEST_F(FlareRepeats, ASwitchBelowAnswersWithItsSum) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  round(tree, 0);
  now += 1ms;
  const auto sent = feed(about(from(tree, 0)));
  ASSERT_EQ(ports_of(sent, FlareKind::contribution), Ports{parent_port});
  EXPECT_TRUE(Seen(sent[0]).header().retransmission());
  EXPECT_TRUE(Seen(sent[0]).header().answers()) << "or two switches would ask each other for ever";
  EXPECT_EQ(Seen(sent[0]).ints(), Ints{2});
}

TEST_F(FlareRepeats, ASwitchBelowAsksThoseThatAreMissing) {
  const auto tree = leaf_of(3, 4);
  start({tree});
  feed(from(tree, 1));
  EXPECT_EQ(ports_of(feed(about(from(tree, 0))), FlareKind::inquiry), (Ports{0, 2}));
}

TEST_F(FlareRepeats, ASwitchBelowThatKnowsNothingAsksAllBelowIt) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  EXPECT_EQ(ports_of(feed(about(from(tree, 0, 500))), FlareKind::inquiry), (Ports{0, 1}));
  const auto sent = feed(as_result(from(tree, 1, 500), 1), Ints{9});
  EXPECT_EQ(ports_of(sent, FlareKind::result), (Ports{0, parent_port}));
}

// The window is 4, so that the tree has 8 slots.
TEST_F(FlareRepeats, WhoeverSendsByTheParentsPortIsNotMultiplied) {
  const auto tree = leaf_of(3, 4);
  start({tree});
  std::size_t sent = 0;
  for (int i = 0; i < 1000; ++i) {
    sent += feed(about(from(tree, 0, 500))).size();
  }
  EXPECT_EQ(sent, 3u) << "of one block";
  now += 1ms;
  for (int i = 0; i < 100; ++i) {
    for (std::uint64_t block = 493; block < 508; ++block) {
      sent += feed(about(from(tree, 0, block))).size();
    }
  }
  EXPECT_EQ(sent, 3u + 8 * 3) << "of any blocks";
  expect_drop(about(from(tree, 0, 1000)), drop::window, {});
  EXPECT_EQ(harness->figure("inquiries_sent_total"), 9u);
  now += 1ms;
  EXPECT_EQ(ports_of(feed(about(from(tree, 0, 500))), FlareKind::inquiry), (Ports{0, 1, 2}));
}

}  // namespace
}  // namespace tributary::flare
