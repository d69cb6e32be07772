// SPDX-License-Identifier: BSD-3-Clause
// Tests sparse blocks on one switch: shards of contributions, and their fates.
#include <set>

#include "sparse_fixture.h"

namespace tributary::flare {
namespace {

class SparseContributions : public SparseTest {};

TEST_F(SparseContributions, TheRootSendsTheSumToAllItsChildren) {
  const auto tree = with_sparse_window(root_of(3));
  start({tree});
  EXPECT_TRUE(feed(sparse_from(tree, 2, 9), {{1, 5}, {511, 7}}).empty());
  EXPECT_TRUE(feed(sparse_from(tree, 0, 9), {}).empty());
  const auto sent = feed(sparse_from(tree, 1, 9), {{1, 10}});
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::result), (Ports{0, 1, 2}));
  for (const auto& one : sent) {
    const SeenShard seen(one);
    EXPECT_EQ(sum_of(sent, seen.port), elements({{1, 15}, {511, 7}}));
    EXPECT_EQ(seen.header().flags, wire::FlareSparseHeader::sparse_bit | 1);
    EXPECT_EQ(seen.header().block.value(), 9u);
    EXPECT_EQ(seen.header().contributions.value(), 3);
    EXPECT_EQ(seen.header().window.value(), 2);
    EXPECT_EQ(seen.header().span.value(), 512);
    EXPECT_EQ(seen.header().shards, 1);
    EXPECT_GT(seen.edition(), 0u);
    EXPECT_EQ(seen.fingerprint(), 0x9e3779b97f4a7c15ULL * 6 + 3 * 9);
    EXPECT_EQ(seen.frame.ipv4->source, self.address);
    EXPECT_EQ(seen.frame.ipv4->destination, tree.group);
    EXPECT_EQ(seen.frame.ipv4->ttl, 64);
    EXPECT_EQ(seen.frame.udp->source_port.value(), wire::source_port_of(wire::flare_key(7, 1)))
        << "four slots";
  }
  EXPECT_EQ(harness->figure("sparse_contributions_total"), 3u);
  EXPECT_EQ(harness->figure("sparse_results_total"), 1u);
  EXPECT_EQ(harness->figure("sparse_blocks_gathering"), 0u);
}

TEST_F(SparseContributions, DenseAndSparseBlocksOfOneNumberAreDifferent) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  feed(sparse_from(tree, 0), {{1, 5}});
  feed(from(tree, 0), Ints{1});
  EXPECT_EQ(Seen(feed(from(tree, 1), Ints{2}).at(0)).ints(), Ints{3});
  EXPECT_EQ(sum_of(feed(sparse_from(tree, 1), {{2, 6}}), 0), elements({{1, 5}, {2, 6}}));
}

TEST_F(SparseContributions, AChildIsInWhenItHasSentAsManyAsItsLastShardSays) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  const auto spec = sparse_from(tree, 0);
  feed(sparse_from(tree, 1), {{9, 9}});
  EXPECT_TRUE(feed(as_shard(spec, 2, 3), {{1, 1}}).empty()) << "in any order";
  EXPECT_TRUE(feed(as_shard(spec, 0), {{1, 2}}).empty());
  const auto sent = feed(as_shard(spec, 1), {{1, 3}, {2, 4}});
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::contribution), Ports{parent_port});
  const SeenShard seen(sent[0]);
  EXPECT_EQ(sum_of(sent, parent_port), elements({{1, 6}, {2, 4}, {9, 9}}));
  EXPECT_EQ(seen.header().contributions.value(), 2);
  EXPECT_EQ(seen.header().shards, 1);
  EXPECT_FALSE(seen.header().retransmission());
  EXPECT_EQ(seen.fingerprint(), 3 * spec.fingerprint + sparse_from(tree, 1).fingerprint);
}

TEST_F(SparseContributions, AShardThatComesTwiceIsAddedOnce) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  const auto spec = sparse_from(tree, 0);
  feed(as_shard(spec, 0), {{5, 1}});
  expect_drop(as_shard(spec, 0), drop::duplicate);
  feed(as_shard(spec, 1, 2), {{5, 10}});
  expect_drop(as_shard(spec, 1, 2), drop::duplicate);
  expect_drop(as_shard(spec, 3), drop::duplicate);  // the child is in
  EXPECT_EQ(sum_of(feed(sparse_from(tree, 1), {{5, 100}}), 1), elements({{5, 111}}));
  EXPECT_EQ(harness->figure("duplicates_total"), 3u);
}

TEST_F(SparseContributions, ShardsThatCannotBeOfTheContributionAreDropped) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  const auto spec = sparse_from(tree, 0);
  feed(as_shard(spec, 2));
  expect_drop(as_shard(spec, 1, 2), drop::shard);
  feed(as_shard(spec, 4, 5));
  expect_drop(as_shard(spec, 5), drop::shard);
  expect_drop(as_shard(spec, 3, 4), drop::shard);
  expect_drop(as_shard(spec, 5, 6), drop::shard);
  for (const auto shard : std::vector<std::uint8_t>{0, 1, 3}) {
    feed(as_shard(spec, shard));
  }
  EXPECT_EQ(sum_of(feed(sparse_from(tree, 1), {}), 0), elements({{5, 5}}));
}

TEST_F(SparseContributions, WhatIsSpilledGoesUpAtOnceAndIsKept) {
  const auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  Ints expected(512);
  std::vector<test::Sent> sent;
  std::uint64_t tags = 0;
  const auto collect = [&](std::vector<test::Sent> more) {
    for (auto& one : more) {
      sent.push_back(std::move(one));
    }
  };
  for (std::uint8_t shard = 0; shard < 10; ++shard) {
    Pairs pairs;
    for (std::uint16_t i = 0; i < 10; ++i) {
      pairs.emplace_back(static_cast<std::uint16_t>(shard * 10 + i), 1);
    }
    const auto spec = as_shard(sparse_from(tree, 0), shard, shard == 9 ? 10 : 0);
    tags += spec.fingerprint;
    collect(feed(spec, pairs));
  }
  const auto spills = sent.size();
  EXPECT_GT(spills, 0u);
  EXPECT_EQ(harness->figure("sparse_spills_total"), spills);
  collect(feed(sparse_from(tree, 1), {{0, 5}}));
  tags += sparse_from(tree, 1).fingerprint;
  std::fill_n(expected.begin(), 100, 1);
  expected[0] = 6;
  EXPECT_EQ(sum_of(sent, parent_port), expected);
  std::uint64_t passed_on = 0;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const SeenShard seen(sent[i]);
    passed_on += seen.fingerprint();
    EXPECT_EQ(seen.header().shard, i);
    EXPECT_EQ(seen.header().is_last(), i + 1 == sent.size());
    EXPECT_EQ(seen.header().contributions.value(), i + 1 == sent.size() ? 2 : 0);
    EXPECT_EQ(seen.edition(), SeenShard(sent[0]).edition());
  }
  EXPECT_EQ(passed_on, tags) << "each once";
  now += 1ms;
  auto resent = feed(again(as_shard(sparse_from(tree, 0), 9, 10)));
  ASSERT_EQ(resent.size(), sent.size());
  std::set<unsigned> shards;
  for (const auto& frame : resent) {
    const SeenShard seen(frame);
    EXPECT_TRUE(seen.header().retransmission());
    EXPECT_EQ(seen.header().payload_crc, SeenShard(sent[seen.header().shard]).header().payload_crc);
    shards.insert(seen.header().shard);
  }
  EXPECT_EQ(shards.size(), sent.size());
  now += 10ms;
  const auto later = feed(again(as_shard(sparse_from(tree, 0), 9, 10)));
  EXPECT_NE(SeenShard(later[0]).header().shard, SeenShard(resent[0]).header().shard)
      << "a queue that is short loses others";
}

TEST_F(SparseContributions, WhoAsksIsAnswered) {
  const auto tree = with_sparse_window(leaf_of(3, 6));
  start({tree});
  feed(sparse_from(tree, 0));
  EXPECT_TRUE(feed(again(as_shard(sparse_from(tree, 1), 0))).empty()) << "it is not the last one";
  EXPECT_TRUE(feed(as_answer(again(as_shard(sparse_from(tree, 1), 0)))).empty());
  auto sent = feed(again(sparse_from(tree, 0)));
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::inquiry), (Ports{1, 2}));
  EXPECT_EQ(SeenShard(sent[0]).header().span.value(), 512);
  EXPECT_TRUE(feed(again(sparse_from(tree, 0))).empty()) << "asked just now";
  feed(as_shard(sparse_from(tree, 1), 1, 2));
  sent = feed(sparse_from(tree, 2));
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::contribution), Ports{parent_port});
  EXPECT_TRUE(feed(again(sparse_from(tree, 0))).empty()) << "sent just now";
  now += 1ms;
  EXPECT_TRUE(feed(as_answer(again(sparse_from(tree, 0)))).empty()) << "asks for nothing";
  sent = feed(again(sparse_from(tree, 0)));
  ASSERT_EQ(sparse_ports_of(sent, FlareKind::contribution), Ports{parent_port});
  EXPECT_TRUE(SeenShard(sent[0]).header().asks());
}

TEST_F(SparseContributions, WhatDoesNotFitIsDropped) {
  auto tree = with_sparse_window(leaf_of(2, 4));
  start({tree});
  auto spec = sparse_from(tree, 0);
  ++spec.window;
  expect_drop(spec, drop::mismatch);
  spec = sparse_from(tree, 0);
  ++spec.workers;
  expect_drop(spec, drop::mismatch);
  spec = sparse_from(tree, 0);
  spec.contributions = 2;
  expect_drop(spec, drop::mismatch);
  spec = sparse_from(tree, 0);
  spec.full = 2048;
  expect_drop(spec, drop::mismatch);
  EXPECT_EQ(harness->figure("sparse_blocks_gathering"), 0u);
  feed(sparse_from(tree, 0));
  spec = sparse_from(tree, 1);
  --spec.span;
  expect_drop(spec, drop::mismatch);
  spec = sparse_from(tree, 1);
  spec.full = 80;
  expect_drop(spec, drop::mismatch);
  spec = sparse_from(tree, 1);
  spec.type = wire::ElementType::f32;
  expect_drop(spec, drop::mismatch);
  expect_drop(as_result(spec, 0, 1, 5), drop::mismatch);
  EXPECT_EQ(feed(sparse_from(tree, 1)).size(), 1u);
}

TEST_F(SparseContributions, WhatHasNoPlaceIsDropped) {
  auto tree = with_sparse_window(leaf_of(2, 4));
  auto other = leaf_of(2, 4);
  other.job = 8;
  other.group = wire::Ipv4Address(239, 192, 0, 8);
  start({tree, other});
  other.sparse_window = 2;
  expect_drop(sparse_from(other, 0), drop::not_sparse);
  expect_drop(sparse_from(with_sparse_window(root_of(2, 9)), 0), drop::no_tree);
  auto spec = sparse_from(tree, 0);
  spec.ingress = parent_port;
  expect_drop(spec, drop::wrong_port);
  spec = sparse_from(tree, 0);
  spec.group = wire::Ipv4Address(239, 192, 0, 99);
  expect_drop(spec, drop::malformed);
  feed(sparse_from(tree, 0, 4));
  expect_drop(sparse_from(tree, 1, 0), drop::stale);
  expect_drop(as_result(sparse_from(tree, 1, 0), 0, 1, 5), drop::stale);
  expect_drop(about(sparse_from(tree, 1, 0)), drop::stale);
  spec = sparse_from(tree, 0);
  spec.run = 2;
  expect_drop(as_result(spec, 0, 1, 5), drop::stale_run);
  feed(spec);
  EXPECT_EQ(harness->figure("sparse_blocks_gathering"), 1u) << "a new run has let go of the other";
}

TEST_F(SparseContributions, WhatFindsNoBufferIsDroppedAndARepeatMendsIt) {
  const auto tree = with_sparse_window(root_of(2));
  start({tree});
  auto packet = test::make_flare_sparse(pool, sparse_from(tree, 0), bytes_of(Pairs{{5, 1}}));
  auto all = drain();
  expect_drop(std::move(packet), DropReason::no_buffer);
  EXPECT_EQ(harness->figure("sparse_blocks_gathering"), 0u);
  EXPECT_EQ(harness->figure("buffers_in_use"), 0u);
  all.clear();
  EXPECT_EQ(sum_of(sparse_round(tree, 0), 0), elements({{5, 2}}));
}

}  // namespace
}  // namespace tributary::flare
