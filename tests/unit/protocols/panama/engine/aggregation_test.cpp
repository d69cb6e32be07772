// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"
#include "protocols/panama/engine/drop_reasons.h"

namespace tributary::panama {
namespace {

class Aggregation : public PanamaTest {};

TEST_F(Aggregation, TheRootSendsTheSumToAllItsChildren) {
  const auto tree = root_of(3);
  start({tree});
  EXPECT_TRUE(feed(from(tree, 2), Ints{1, 2}).empty());
  EXPECT_TRUE(feed(from(tree, 0), Ints{10, 20}).empty());
  const auto sent = feed(from(tree, 1), Ints{100, 200});
  ASSERT_EQ(sent.size(), 3u);
  for (PortIndex port = 0; port < 3; ++port) {
    EXPECT_EQ(sent[port].port, port);
    const Seen seen(sent[port]);
    EXPECT_EQ(seen.elements<std::int32_t>(), (Ints{111, 222}));
    EXPECT_EQ(seen.header().kind, wire::PanamaKind::result);
    EXPECT_EQ(seen.header().contributions.value(), 3);
    EXPECT_EQ(seen.header().workers.value(), 3);
    EXPECT_EQ(seen.header().rank.value(), wire::PanamaHeader::no_rank);
    EXPECT_EQ(seen.header().fingerprint.value(), 0x9e3779b97f4a7c15ULL * 6);
    EXPECT_EQ(seen.frame.ipv4->source, self.address);
    EXPECT_EQ(seen.frame.ipv4->destination, tree.group);
    EXPECT_EQ(seen.frame.ipv4->ttl, 64);
    EXPECT_EQ(seen.frame.ipv4->tos, 0xe2);
    EXPECT_EQ(seen.frame.ethernet->destination, wire::multicast_mac(tree.group));
    EXPECT_EQ(seen.frame.udp->destination_port.value(), 17256);
    EXPECT_EQ(seen.frame.udp->source_port.value(), wire::source_port_of(wire::panama_key(7, 0)));
  }
  EXPECT_EQ(harness->ledger.absorbed, 3u);
  EXPECT_EQ(harness->figure("results_total"), 1u);
}

TEST_F(Aggregation, ASwitchInTheMiddleSendsTheSumUpAndTheResultDown) {
  const auto tree = leaf_of(2, 8);
  start({tree});
  feed(from(tree, 0), Ints{1});
  const auto up = feed(from(tree, 1), Ints{2});
  ASSERT_EQ(up.size(), 1u);
  EXPECT_EQ(up[0].port, parent_port);
  const Seen sum(up[0]);
  EXPECT_EQ(sum.header().kind, wire::PanamaKind::aggregation);
  EXPECT_EQ(sum.header().contributions.value(), 2);
  EXPECT_EQ(sum.elements<std::int32_t>(), Ints{3});

  auto spec = as_result(from(tree, 0));
  spec.source = wire::Ipv4Address(10, 0, 255, 9);
  const auto down = feed(spec, Ints{36});
  ASSERT_EQ(down.size(), 2u);
  for (PortIndex port = 0; port < 2; ++port) {
    EXPECT_EQ(down[port].port, port);
    const Seen seen(down[port]);
    EXPECT_EQ(seen.elements<std::int32_t>(), Ints{36});
    EXPECT_EQ(seen.header().contributions.value(), 8);
    EXPECT_EQ(seen.frame.ipv4->ttl, 63);
    EXPECT_EQ(seen.frame.ipv4->source, self.address);
  }
}

TEST_F(Aggregation, SeveralVidsGatherAtOnceAndNobodyWaitsForAnother) {
  const auto tree = root_of(2);
  start({tree});
  EXPECT_EQ(round(tree, 0).size(), 2u) << "tells the cap";
  for (std::uint32_t vid = 1; vid < 5; ++vid) {
    EXPECT_TRUE(feed(from(tree, 0, vid), Ints{static_cast<std::int32_t>(vid)}).empty());
  }
  for (const std::uint32_t vid : {3u, 1u, 4u}) {
    const auto sent = feed(from(tree, 1, vid), Ints{10});
    ASSERT_EQ(sent.size(), 2u);
    EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{10 + static_cast<std::int32_t>(vid)});
  }
  EXPECT_EQ(harness->figure("skipped_total"), 2u) << "1 and 2 by 3; 1 came later";
  EXPECT_EQ(feed(from(tree, 1, 2)).size(), 2u);
}

TEST_F(Aggregation, PacketsAreAddedInTheOrderOfThePortsWheneverTheyCome) {
  const auto tree = root_of(3);
  start({tree}, 64);
  const std::vector<float> values[] = {{1e8f}, {-1e8f}, {1.5f}};
  std::uint32_t vid = 0;
  PortIndex order[] = {0, 1, 2};
  do {
    std::vector<test::Sent> sent;
    for (const auto port : order) {
      auto spec = from(tree, port, vid);
      spec.type = wire::ElementType::f32;
      sent = feed(spec, values[port]);
    }
    ASSERT_EQ(sent.size(), 3u);
    EXPECT_EQ(Seen(sent[0]).elements<float>(), std::vector<float>{(1e8f + -1e8f) + 1.5f});
    ++vid;
  } while (std::next_permutation(std::begin(order), std::end(order)));
  EXPECT_EQ(vid, 6u);
}

TEST_F(Aggregation, CongestionOfAnyPortMarksTheSumAndTheResult) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  auto spec = from(tree, 0);
  spec.tos |= wire::ecn::ce;
  feed(spec);
  auto sent = feed(from(tree, 1));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(Seen(sent[0]).congested());
  sent = round(tree, 1);
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_FALSE(Seen(sent[0]).congested());
  auto result = as_result(from(tree, 0, 1));
  result.tos |= wire::ecn::ce;
  sent = feed(result);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_TRUE(Seen(sent[1]).congested());
}

TEST_F(Aggregation, AnEpochEndsWithFinAndTheNextBeginsAtZero) {
  const auto tree = root_of(2);
  start({tree});
  EXPECT_EQ(harness->figure("trees_active"), 0u);
  round(tree, 0);
  EXPECT_EQ(harness->figure("trees_active"), 1u);
  EXPECT_EQ(round(tree, 1, true).size(), 2u);
  EXPECT_EQ(harness->figure("trees_active"), 0u);
  EXPECT_EQ(round(tree, 0, true, 5).size(), 2u) << "epochs may jump";
  EXPECT_EQ(round(tree, 0, true, 6).size(), 2u);
}

// The stranger is behind the same ports, and knows all numbers of the job.
TEST_F(Aggregation, WhatDoesNotComeFromWhoTheControllerNamedIsDropped) {
  auto tree = leaf_of(2, 4);
  tree.child_addresses = {from(tree, 0).source, wire::Ipv4Address{}};
  tree.parent_address = wire::Ipv4Address{10, 9, 9, 9};
  start({tree});
  auto stranger = from(tree, 0);
  stranger.source = wire::Ipv4Address{10, 0, 0, 77};
  expect_drop(stranger, drop::wrong_port);
  feed(from(tree, 0), Ints{5});
  auto unknown = from(tree, 1);
  unknown.source = stranger.source;
  const auto sent = feed(unknown, Ints{6});
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(Seen(sent[0]).elements<std::int32_t>(), Ints{11});
  expect_drop(as_result(from(tree, 0)), drop::wrong_port);
  auto result = as_result(from(tree, 0));
  result.source = tree.parent_address;
  EXPECT_EQ(feed(result).size(), 2u);
}

TEST_F(Aggregation, EveryFaultHasItsReason) {
  const auto tree = leaf_of(2, 4);
  start({tree});
  auto spec = from(tree, 0);
  spec.job = 8;
  expect_drop(spec, drop::no_tree);
  spec = from(tree, 0);
  spec.tree = 1;
  expect_drop(spec, drop::no_tree);
  spec = from(tree, 2);
  expect_drop(spec, drop::wrong_port);
  spec = from(tree, 0);
  spec.ingress = parent_port;
  expect_drop(spec, drop::wrong_port);
  spec = as_result(from(tree, 0));
  spec.ingress = 2;
  expect_drop(spec, drop::wrong_port);
  spec.ingress = 0;
  expect_drop(spec, drop::stale);  // nobody asked for it
  spec = from(tree, 0);
  spec.group = group_of(1);
  expect_drop(spec, drop::malformed);
  spec = from(tree, 0);
  spec.workers = 5;
  expect_drop(spec, drop::mismatch);
  spec = from(tree, 0);
  spec.contributions = 3;
  expect_drop(spec, drop::overcount);
  round(tree, 0);
  spec = from(tree, 0, 1);
  spec.contributions = 3;
  expect_drop(spec, drop::overcount);
  feed(from(tree, 0, 1));
  expect_drop(from(tree, 0, 1), drop::duplicate);
  spec = from(tree, 1, 1);
  spec.op = wire::Operator::max;
  expect_drop(spec, drop::mismatch);
  spec = from(tree, 1, 1);
  spec.fin = true;
  expect_drop(spec, drop::mismatch);
  auto damaged = test::make_panama(pool, from(tree, 1, 1), Ints{1, 2});
  damaged->data()[damaged->length - 1] ^= std::byte{1};
  EXPECT_TRUE(feed(std::move(damaged)).empty());
  EXPECT_EQ(harness->drops(drop::crc), 1u);
  EXPECT_EQ(feed(from(tree, 1, 1)).size(), 1u);
}

// A packet without a whole header looks as if it were of job 0 and tree 0.
TEST_F(Aggregation, AShortPacketAmongOthersIsOfNoTree) {
  constexpr std::size_t count = 8;
  const auto tree = root_of(2, 0, 0);
  start({tree});
  std::vector<PacketPtr> burst;
  for (std::size_t i = 0; i < count; ++i) {
    constexpr std::uint16_t udp_bytes = sizeof(wire::UdpHeader) + 4;
    auto packet = test::make_panama(pool, from(tree, 0), Ints{1});
    const auto frame = engine::parse_frame(*packet);
    frame.udp->length = udp_bytes;
    frame.ipv4->total_length = static_cast<std::uint16_t>(sizeof(wire::Ipv4Header) + udp_bytes);
    burst.push_back(std::move(packet));
  }
  EXPECT_TRUE(harness->process(std::move(burst), now).empty());
  EXPECT_EQ(harness->drops(drop::truncated), count);
}

// The tree of a packet is looked up some packets before its turn comes.
TEST_F(Aggregation, PacketsOfSeveralTreesComeInOneBurst) {
  constexpr std::uint16_t trees = 6;
  constexpr std::uint32_t vids = 2;  // an initial window
  std::vector<TreeConfig> configs;
  for (std::uint16_t tree = 0; tree < trees; ++tree) {
    configs.push_back(root_of(2, tree));
  }
  start(configs, 64);
  for (const PortIndex worker : {PortIndex{0}, PortIndex{1}}) {
    std::vector<PacketPtr> burst;
    for (std::uint32_t vid = 0; vid < vids; ++vid) {
      for (const auto& tree : configs) {
        burst.push_back(test::make_panama(pool, from(tree, worker, vid), Ints{tree.tree, 1}));
      }
    }
    auto unknown = from(configs[0], worker);
    unknown.job = 8;
    burst.push_back(test::make_panama(pool, unknown, Ints{1, 1}));
    const auto sent = harness->process(std::move(burst), now);
    ASSERT_EQ(sent.size(), worker == 0 ? 0u : 2u * vids * trees);
    for (const auto& one : sent) {
      const Seen seen(one);
      EXPECT_EQ(seen.elements<std::int32_t>(), (Ints{2 * seen.header().tree.value(), 2}));
    }
  }
  EXPECT_EQ(harness->drops(drop::no_tree), 2u);
}

}  // namespace
}  // namespace tributary::panama
