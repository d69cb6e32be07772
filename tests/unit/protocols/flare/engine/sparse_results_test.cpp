// SPDX-License-Identifier: BSD-3-Clause
// Tests results of sparse blocks in shards, who is asked for them, and shards of two editions.
#include <algorithm>

#include "sparse_fixture.h"

namespace tributary::flare {
namespace {

class SparseResults : public SparseTest {
 protected:
  static Pairs some(std::uint16_t first) { return {{first, 1}, {first + 1u, 2}}; }
};

TEST_F(SparseResults, EachShardGoesDownAtOnceAndAllAreTheResult) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  sparse_round(tree, 0);
  const auto spec = sparse_from(tree, 0);
  auto sent = feed(as_result(spec, 1, 2, 77), some(100));
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::result), (Ports{0, 1}));
  EXPECT_EQ(SeenShard(sent[0]).frame.ipv4->ttl, 63);
  EXPECT_EQ(SeenShard(sent[0]).edition(), 77u);
  EXPECT_EQ(SeenShard(sent[0]).fingerprint(), spec.fingerprint);
  expect_drop(as_result(spec, 1, 2, 77), drop::duplicate);
  EXPECT_TRUE(feed(again(spec)).empty()) << "it is not done: the sum was sent just now";
  EXPECT_EQ(feed(as_result(spec, 0, 2, 77), some(3)).size(), 2u);
  expect_drop(as_result(spec, 0, 2, 77), drop::duplicate);
  expect_drop(as_result(spec, 0, 1, 78), drop::duplicate);
  EXPECT_EQ(harness->figure("buffers_in_use"), 2u) << "what was summed is let go of";
  EXPECT_TRUE(feed(as_shard(spec, 0)).empty());
  EXPECT_TRUE(feed(again(as_shard(spec, 0))).empty()) << "one shard asks for all";
  sent = feed(as_answer(again(as_shard(spec, 1, 2))));
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::result), (Ports{0, 0}));
  EXPECT_EQ(sum_of(sent, 0), elements({{3, 1}, {4, 2}, {100, 1}, {101, 2}}));
  EXPECT_EQ(SeenShard(sent[0]).frame.ipv4->ttl, 64);
}

TEST_F(SparseResults, AreInTheTrafficClassOfWhatCame) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  sparse_round(tree, 0);
  auto result = as_result(sparse_from(tree, 0), 0, 1, 77);
  result.tos = 32 << 2;
  const auto sent = feed(result, some(100));
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(SeenShard(sent[0]).frame.ipv4->tos, result.tos);
}

TEST_F(SparseResults, AnotherEditionTakesThePlaceOfWhatCameBefore) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  const auto spec = sparse_from(tree, 0);
  feed(as_result(spec, 0, 3, 77), some(3));
  feed(as_result(spec, 1, 3, 77), some(30));
  EXPECT_EQ(feed(as_result(spec, 0, 2, 78), some(5)).size(), 2u);
  EXPECT_EQ(harness->figure("buffers_in_use"), 1u);
  EXPECT_EQ(feed(as_result(spec, 1, 2, 78), some(50)).size(), 2u);
  expect_drop(as_result(spec, 2, 3, 77), drop::duplicate);
  const auto sent = feed(again(spec));
  EXPECT_EQ(sum_of(sent, 0), elements({{5, 1}, {6, 2}, {50, 1}, {51, 2}}));
}

TEST_F(SparseResults, AResultFromBelowIsNewsToThoseAbove) {
  const auto tree = with_sparse_window(leaf_of(3, 6));
  start({tree});
  expect_drop(as_result(sparse_from(tree, 1), 0, 1, 77, 1), drop::unasked);
  feed(about(sparse_from(tree, 1)));
  const auto sent = feed(as_result(sparse_from(tree, 1), 0, 1, 77, 1), some(3));
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::result), (Ports{0, 2, parent_port}));
  EXPECT_FALSE(SeenShard(sent[0]).header().answers());
  EXPECT_TRUE(SeenShard(sent[2]).header().answers());
  EXPECT_EQ(harness->figure("sparse_answers_total"), 1u);
}

TEST_F(SparseResults, AResultForWhichTheParentHasNotAskedStaysBelow) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  feed(again(sparse_from(tree, 0)));
  const auto sent = feed(as_result(sparse_from(tree, 1), 0, 1, 77, 1), some(3));
  EXPECT_EQ(sparse_ports_of(sent, FlareKind::result), Ports{0});
}

TEST_F(SparseResults, AResultThatHasPassedItsLastHopIsDropped) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  auto spec = as_result(sparse_from(tree, 0), 0, 1, 77);
  spec.ttl = 1;
  expect_drop(spec, DropReason::ttl_exceeded);
  EXPECT_EQ(harness->figure("sparse_blocks_gathering"), 0u);
}

TEST_F(SparseResults, AnInquiryIsAnsweredByWhatThereIs) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  const auto question = about(sparse_from(tree, 0));
  EXPECT_EQ(sparse_ports_of(feed(question), FlareKind::inquiry), (Ports{0, 1})) << "nothing";
  for (std::uint8_t shard = 0; shard < 10; ++shard) {
    Pairs pairs;
    for (std::uint16_t i = 0; i < 10; ++i) {
      pairs.emplace_back(static_cast<std::uint16_t>(shard * 10 + i), 1);
    }
    feed(as_shard(sparse_from(tree, 0), shard, shard == 9 ? 10 : 0), pairs);
  }
  now += 1ms;
  const auto spills = harness->figure("sparse_spills_total");
  auto sent = feed(question);
  ASSERT_EQ(sent.size(), spills + 1);
  for (std::size_t i = 0; i < spills; ++i) {
    const SeenShard seen(sent[i]);
    EXPECT_EQ(seen.port, parent_port);
    EXPECT_TRUE(seen.header().answers());
  }
  EXPECT_EQ(SeenShard(sent.back()).header().kind, FlareKind::inquiry);
  EXPECT_EQ(sent.back().port, 1) << "of whom something is missing";
  EXPECT_TRUE(feed(question).empty()) << "answered just now";
  feed(sparse_from(tree, 1));
  now += 1ms;
  sent = feed(question);
  EXPECT_GT(sent.size(), spills);
  EXPECT_EQ(std::ranges::count_if(
                sent, [](const auto& frame) { return SeenShard(frame).header().is_last(); }),
            1);
  EXPECT_TRUE(std::ranges::none_of(
      sent, [](const auto& frame) { return SeenShard(frame).header().asks(); }));
  feed(as_result(sparse_from(tree, 0), 0, 1, 77), some(3));
  sent = feed(question);
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::result), Ports{parent_port});
  EXPECT_TRUE(SeenShard(sent[0]).header().answers());
}

TEST_F(SparseResults, WhoeverSendsByTheParentsPortIsNotMultiplied) {
  const auto tree = with_sparse_window(leaf_of(3, 4));
  start({tree});
  std::size_t sent = 0;
  for (int i = 0; i < 1000; ++i) {
    sent += feed(about(sparse_from(tree, 0, 500))).size();
  }
  EXPECT_EQ(sent, 3u);
  now += 1ms;
  EXPECT_EQ(feed(about(sparse_from(tree, 0, 500))).size(), 3u);
}

// A switch below has spilled, was restarted, and has added up in another order since.
TEST_F(SparseResults, ShardsOfTwoEditionsAreNeverInOneSum) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  const auto below = sparse_from(tree, 0);
  feed(sparse_from(tree, 1), {{9, 100}});
  feed(in_edition(as_shard(below, 0), 11), {{1, 1}});
  const auto asked = feed(in_edition(as_shard(below, 1, 2), 12), {{1, 2}});
  EXPECT_EQ(sparse_ports_of(asked, FlareKind::inquiry), (Ports{0, 1}));
  EXPECT_EQ(harness->figure("sparse_restarts_total"), 1u);
  EXPECT_TRUE(feed(in_edition(as_shard(below, 0), 12), {{1, 4}}).empty());
  const auto sent = feed(as_answer(again(sparse_from(tree, 1))), {{9, 100}});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sum_of(sent, parent_port), elements({{1, 6}, {9, 100}}));
  EXPECT_EQ(SeenShard(sent[0]).fingerprint(),
            2 * below.fingerprint + sparse_from(tree, 1).fingerprint);
}

TEST_F(SparseResults, WhatHasComeWhollyStaysWhateverItsSenderForgets) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  const auto below = sparse_from(tree, 0);
  feed(in_edition(below, 11), {{1, 1}});
  expect_drop(in_edition(as_shard(below, 0), 12), drop::duplicate);
  EXPECT_EQ(sum_of(feed(sparse_from(tree, 1), {{1, 2}}), 0), elements({{1, 3}}));
}

TEST_F(SparseResults, ASumThatBeginsAnewHasAnotherEdition) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  sparse_round(tree, 0);
  now += 1ms;
  const auto first = SeenShard(feed(again(sparse_from(tree, 0))).at(0)).edition();
  start({tree});
  now += 1ns;
  feed(sparse_from(tree, 0));
  const auto second = SeenShard(feed(sparse_from(tree, 1)).at(0)).edition();
  EXPECT_NE(first, second);
  EXPECT_NE(SeenShard(sparse_round(tree, 1).at(0)).edition(), second) << "within one nanosecond";
}

TEST_F(SparseResults, AMismatchHarmsNoSumByItsEdition) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  const auto below = sparse_from(tree, 0);
  feed(in_edition(as_shard(below, 0), 11), {{1, 1}});
  auto wrong = in_edition(as_shard(below, 1, 2), 12);
  wrong.contributions = 2;
  expect_drop(wrong, drop::mismatch);
  feed(in_edition(as_shard(below, 1, 2), 11), {{1, 2}});
  EXPECT_EQ(sum_of(feed(sparse_from(tree, 1), {}), 0), elements({{1, 3}}));
}

}  // namespace
}  // namespace tributary::flare
