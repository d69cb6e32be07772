// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>

#include "fixture.h"
#include "wire/checksum.h"

namespace tributary::flare {
namespace {

class Aggregating : public FlareTest {};

TEST_F(Aggregating, TheRootSendsTheSumToAllItsChildren) {
  const auto tree = root_of(3);
  start({tree});
  EXPECT_TRUE(feed(from(tree, 2, 65), Ints{1, 2}).empty());
  EXPECT_TRUE(feed(from(tree, 0, 65), Ints{10, 20}).empty());
  const auto sent = feed(from(tree, 1, 65), Ints{100, 200});
  ASSERT_EQ(sent.size(), 3u);
  for (PortIndex port = 0; port < 3; ++port) {
    EXPECT_EQ(sent[port].port, port);
    const Seen seen(sent[port]);
    EXPECT_EQ(seen.ints(), (Ints{111, 222}));
    EXPECT_EQ(seen.header().kind, FlareKind::result);
    EXPECT_EQ(seen.header().flags, wire::FlareHeader::current_version);
    EXPECT_EQ(seen.header().job.value(), 7u);
    EXPECT_EQ(seen.header().run.value(), 1u);
    EXPECT_EQ(seen.header().block.value(), 65u);
    EXPECT_EQ(seen.header().contributions.value(), 3);
    EXPECT_EQ(seen.header().workers.value(), 3);
    EXPECT_EQ(seen.header().window.value(), 4);
    EXPECT_EQ(seen.header().fingerprint.value(), 0x9e3779b97f4a7c15ULL * 6 + 3 * 65);
    EXPECT_EQ(seen.frame.ipv4->source, self.address);
    EXPECT_EQ(seen.frame.ipv4->destination, tree.group);
    EXPECT_EQ(seen.frame.ipv4->ttl, 64);
    EXPECT_EQ(seen.frame.ipv4->tos, 0);
    EXPECT_EQ(seen.frame.ethernet->source, self.mac);
    EXPECT_EQ(seen.frame.ethernet->destination, wire::multicast_mac(tree.group));
    EXPECT_EQ(seen.frame.udp->destination_port.value(), 17257);
    EXPECT_EQ(seen.frame.udp->source_port.value(), wire::source_port_of(wire::flare_key(7, 1)));
    EXPECT_EQ(seen.frame.udp->checksum.value(), 0);
  }
  EXPECT_EQ(harness->ledger.absorbed, 3u);
  EXPECT_EQ(harness->figure("contributions_total"), 3u);
  EXPECT_EQ(harness->figure("results_total"), 1u);
}

TEST_F(Aggregating, ASwitchInTheMiddleSendsTheSumUpAndTheResultDown) {
  const auto tree = leaf_of(2, 8);
  start({tree});
  feed(from(tree, 0), Ints{1});
  const auto up = feed(from(tree, 1), Ints{2});
  ASSERT_EQ(ports_of(up, FlareKind::contribution), Ports{parent_port});
  const Seen sum(up[0]);
  EXPECT_EQ(sum.header().contributions.value(), 2);
  EXPECT_FALSE(sum.header().retransmission());
  EXPECT_EQ(sum.ints(), Ints{3});

  auto spec = as_result(from(tree, 0));
  spec.source = wire::Ipv4Address(10, 0, 255, 9);
  const auto down = feed(spec, Ints{36});
  ASSERT_EQ(ports_of(down, FlareKind::result), (Ports{0, 1}));
  for (const auto& one : down) {
    const Seen seen(one);
    EXPECT_EQ(seen.ints(), Ints{36});
    EXPECT_EQ(seen.header().contributions.value(), 8);
    EXPECT_EQ(seen.frame.ipv4->ttl, 63);
    EXPECT_EQ(seen.frame.ipv4->source, self.address);
  }
}

// What a switch asks for is in the class, too, and is not marked where ranks' packets would be.
TEST_F(Aggregating, WhatASwitchSendsIsInTheTrafficClassOfWhatCame) {
  const std::uint8_t cs4 = 32 << 2;
  const auto tree = leaf_of(2, 8);
  start({tree});
  const auto classed = [](FlareSpec spec) {
    spec.tos = cs4 | wire::ecn::ce;
    return spec;
  };
  const auto expect_class = [cs4](const std::vector<test::Sent>& sent) {
    ASSERT_FALSE(sent.empty());
    for (const auto& one : sent) {
      EXPECT_EQ(Seen(one).frame.ipv4->tos, cs4);
      EXPECT_EQ(wire::internet_checksum(std::as_bytes(std::span(Seen(one).frame.ipv4, 1))), 0);
    }
  };
  feed(classed(from(tree, 0)), Ints{1});
  expect_class(feed(classed(from(tree, 1)), Ints{2}));
  expect_class(feed(classed(as_result(from(tree, 0))), Ints{36}));
  expect_class(feed(classed(again(from(tree, 0))), Ints{1}));
  expect_class(feed(classed(about(from(tree, 0, 1)))));
}

// A root with two leaves, and two ranks below each.
TEST_F(Aggregating, TwoLevelsAddUpWhatAllRanksContribute) {
  const auto leaf = leaf_of(2, 4);
  auto root = root_of(2);
  root.workers = root.workers_below = 4;
  std::vector<test::Sent> sums;
  for (const std::int32_t first : {1, 100}) {
    start({leaf});
    feed(from(leaf, 0), Ints{first});
    sums.push_back(std::move(feed(from(leaf, 1), Ints{2 * first}).at(0)));
  }
  start({root});
  sums[0].packet->ingress = 0;
  sums[1].packet->ingress = 1;
  EXPECT_TRUE(feed(std::move(sums[1].packet)).empty());
  auto results = feed(std::move(sums[0].packet));
  ASSERT_EQ(ports_of(results, FlareKind::result), (Ports{0, 1}));
  EXPECT_EQ(Seen(results[0]).ints(), Ints{303});
  EXPECT_EQ(Seen(results[0]).header().contributions.value(), 4);

  start({leaf});
  round(leaf, 0);
  results[0].packet->ingress = parent_port;
  const auto down = feed(std::move(results[0].packet));
  ASSERT_EQ(ports_of(down, FlareKind::result), (Ports{0, 1}));
  EXPECT_EQ(Seen(down[1]).ints(), Ints{303});
}

TEST_F(Aggregating, SeveralBlocksGatherAtOnceAndNoneWaitsForAnother) {
  const auto tree = root_of(2);
  start({tree});
  for (std::uint64_t block = 0; block < tree.window; ++block) {
    EXPECT_TRUE(feed(from(tree, 0, block), Ints{static_cast<std::int32_t>(block)}).empty());
  }
  EXPECT_EQ(harness->figure("blocks_gathering"), tree.window);
  for (const std::int32_t block : {3, 1, 0, 2}) {
    const auto sent = feed(from(tree, 1, static_cast<std::uint64_t>(block)), Ints{10});
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(Seen(sent[0]).ints(), Ints{10 + block});
  }
  EXPECT_EQ(harness->figure("blocks_gathering"), 0u);
}

TEST_F(Aggregating, ABurstIsHandledInItsOrder) {
  const auto tree = root_of(2);
  start({tree});
  std::vector<PacketPtr> burst;
  for (std::uint64_t block = 0; block < 8; ++block) {
    for (const auto port : tree.children) {
      burst.push_back(test::make_flare(pool, from(tree, port, block), Ints{port}));
    }
  }
  const auto sent = harness->process(std::move(burst), now);
  ASSERT_EQ(sent.size(), 16u);
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(Seen(sent[i]).header().block.value(), i / 2);
  }
}

TEST_F(Aggregating, ABarrierIsABlockWithoutElements) {
  for (const auto& tree : {root_of(2), reproducible(root_of(2))}) {
    start({tree});
    feed(from(tree, 0), Ints{});
    const auto sent = feed(from(tree, 1), Ints{});
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(Seen(sent[1]).header().elements.value(), 0);
    EXPECT_EQ(Seen(sent[1]).header().contributions.value(), 2);
    EXPECT_EQ(feed(again(from(tree, 0)), Ints{}).size(), 1u);
  }
}

TEST_F(Aggregating, AnOnlyChildIsASumByItself) {
  for (const auto& tree : {leaf_of(1, 4), reproducible(leaf_of(1, 4))}) {
    start({tree});
    const auto sent = feed(from(tree, 0), Ints{5});
    ASSERT_EQ(ports_of(sent, FlareKind::contribution), Ports{parent_port});
    EXPECT_EQ(Seen(sent[0]).ints(), Ints{5});
  }
}

TEST_F(Aggregating, TreesDoNotMix) {
  const auto a = root_of(2, 7);
  const auto b = root_of(2, 8);
  start({a, b});
  feed(from(a, 0), Ints{1});
  feed(from(b, 0), Ints{10});
  const auto sent = feed(from(a, 1), Ints{2});
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(Seen(sent[0]).ints(), Ints{3});
  EXPECT_EQ(Seen(sent[0]).frame.ipv4->destination, a.group);
}

// A tree computes (0 + 1) + 2, in whatever order packets come.
TEST_F(Aggregating, AReproducibleSumIsTheSameInEveryOrder) {
  const auto tree = reproducible(root_of(3));
  start({tree});
  const std::vector<float> values[] = {{1e8f}, {1.5f}, {-1e8f}};
  std::uint64_t block = 0;
  PortIndex order[] = {0, 1, 2};
  do {
    std::vector<test::Sent> sent;
    for (const auto port : order) {
      auto spec = from(tree, port, block);
      spec.type = wire::ElementType::f32;
      sent = feed(spec, values[port]);
    }
    ASSERT_EQ(sent.size(), 3u);
    EXPECT_EQ(Seen(sent[0]).elements<float>(), std::vector<float>{(1e8f + 1.5f) + -1e8f});
    ++block;
  } while (std::next_permutation(std::begin(order), std::end(order)));
  EXPECT_EQ(block, 6u);
}

TEST_F(Aggregating, ASumThatNeedNotBeReproducibleIsInTheOrderOfArrival) {
  const auto tree = root_of(3);
  start({tree});
  const std::vector<float> values[] = {{1e8f}, {1.5f}, {-1e8f}};
  std::vector<test::Sent> sent;
  for (const auto port : Ports{0, 2, 1}) {
    auto spec = from(tree, port);
    spec.type = wire::ElementType::f32;
    sent = feed(spec, values[port]);
  }
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(Seen(sent[0]).elements<float>(), std::vector<float>{1.5f});
}

}  // namespace
}  // namespace tributary::flare
