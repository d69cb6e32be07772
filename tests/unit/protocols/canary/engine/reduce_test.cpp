// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"
#include "protocols/canary/engine/drop_reasons.h"
#include "wire/checksum.h"

namespace tributary::canary {
namespace {

class Reduce : public CanaryTest {};

TEST_F(Reduce, FirstPacketIsKeptUntilTheTimeout) {
  EXPECT_EQ(engine->deadline(), never);
  EXPECT_TRUE(feed(worker(0), Ints{1, 2, 3}, Time{5us}).empty());
  EXPECT_EQ(engine->deadline(), Time{1005us});
  EXPECT_TRUE(harness->expire(Time{1004us}).empty());
  const auto sums = harness->expire(Time{1005us});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).elements<std::int32_t>(), (Ints{1, 2, 3}));
  EXPECT_EQ(harness->figure("partial_sums_timeout_total"), 1u);
  EXPECT_EQ(engine->deadline(), Time{5us} + 5s);
}

// A block before got two contributions here: the next does not wait for the timeout.
TEST_F(Reduce, AsManyContributionsAsLastTimeAreSentAtOnce) {
  auto config = config_with(64);
  config.learn_contributions = true;
  restart(config);
  const std::vector<std::int32_t> one{1};
  const auto from = [](std::uint32_t id, std::uint8_t worker) {
    CanarySpec spec{.id = id};
    spec.child_address = wire::Ipv4Address{10, 0, 0, worker};
    return spec;
  };
  feed(from(1, 1), one);
  EXPECT_TRUE(feed(from(1, 2), one).empty()) << "nothing is known yet";
  EXPECT_EQ(harness->expire(Time{} + 1ms).size(), 1u);
  CanarySpec result{.kind = wire::CanaryKind::result, .id = 1, .counter = 4};
  result.destination = self.address;
  result.child_address = self.address;
  EXPECT_EQ(feed(result, one).size(), 2u);

  EXPECT_TRUE(feed(from(2, 1), one).empty());
  EXPECT_EQ(feed(from(2, 2), one).size(), 1u);
  EXPECT_EQ(harness->figure("partial_sums_expected_total"), 1u);
  // A third one is a straggler, not lost.
  EXPECT_EQ(feed(from(2, 3), one).size(), 1u);
  EXPECT_EQ(harness->figure("stragglers_total"), 1u);
}

// The leader cannot finish without the last contribution, and all of them come by here.
TEST_F(Reduce, TheLeadersLastHopWaitsLonger) {
  auto config = config_with(64);
  config.root_timeout = 20ms;
  auto root = self;
  root.segments.push_back({0x0a000000, 0xffffff00});  // 10.0.0.0/24, where the leader is
  harness.reset();
  engine = std::make_unique<CanaryEngine>(config, root, pool);
  harness = std::make_unique<test::EngineHarness>(*engine);
  feed(CanarySpec{.id = 1}, std::vector<std::int32_t>{1, 2});
  CanarySpec elsewhere{.id = 2};
  elsewhere.destination = wire::Ipv4Address{10, 9, 9, 9};
  feed(elsewhere, std::vector<std::int32_t>{1, 2});
  EXPECT_EQ(engine->deadline(), Time{} + 1ms);
  EXPECT_EQ(harness->expire(Time{} + 19ms).size(), 1u);
  EXPECT_EQ(engine->deadline(), Time{} + 20ms);
  EXPECT_EQ(harness->expire(Time{} + 20ms).size(), 1u);
}

TEST_F(Reduce, AllContributionsSeenSendsAtOnce) {
  EXPECT_TRUE(feed(worker(0), Ints{1, 2}).empty());
  EXPECT_TRUE(feed(worker(1), Ints{10, 20}).empty());
  const auto sums = feed(worker(2), Ints{100, -200});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).elements<std::int32_t>(), (Ints{111, -178}));
  EXPECT_EQ(harness->figure("partial_sums_complete_total"), 1u);
  EXPECT_EQ(harness->ledger.absorbed, 3u);
  EXPECT_EQ(harness->ledger.originated, 1u);
}

// A switch below had no room for the packet: it goes to the leader untouched, and no other packet
// follows.
TEST_F(Reduce, WhatPassesUntouchedIsNotWaitedFor) {
  feed(worker(0), Ints{1});
  auto passing = worker(1);
  passing.bypass = true;
  const auto one = feed(passing, Ints{2});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(Seen(one[0]).elements<std::int32_t>(), (Ints{2}));
  const auto all = feed(worker(2), Ints{4});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(Seen(all[0]).elements<std::int32_t>(), (Ints{5}));
  EXPECT_EQ(Seen(all[0]).header().counter.value(), 2u);
}

TEST_F(Reduce, WhatPassesOfAnotherShapeIsNoContributionToThisBlock) {
  feed(worker(0), Ints{1});
  auto other = worker(1);
  other.bypass = true;
  other.counter = 2;
  other.destination = wire::Ipv4Address(10, 0, 0, 77);
  EXPECT_EQ(feed(other, Ints{2}).size(), 1u) << "it passes, and nothing is sent";
  other = worker(1);
  other.bypass = true;
  other.counter = 2;
  other.hosts = 5;
  EXPECT_EQ(feed(other, Ints{2}).size(), 1u);
}

TEST_F(Reduce, OnlyOneContributionPossibleGoesStraightOn) {
  auto spec = worker(0);
  spec.hosts = 2;
  const auto sums = feed(spec, Ints{5});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_FALSE(sums[0].received);
  EXPECT_EQ(Seen(sums[0]).elements<std::int32_t>(), (Ints{5}));
}

TEST_F(Reduce, SumCarriesTheSwitchAsItsSender) {
  feed(worker(0), Ints{1});
  feed(worker(1), Ints{2});
  const auto sums = feed(worker(2), Ints{3});
  ASSERT_EQ(sums.size(), 1u);
  const Seen seen(sums[0]);
  const auto& header = seen.header();
  EXPECT_EQ(header.kind, wire::CanaryKind::contribution);
  EXPECT_EQ(header.counter.value(), 3u);
  EXPECT_EQ(header.hosts.value(), 4u);
  EXPECT_EQ(header.fingerprint.value(), 0x9e3779b97f4a7c15ULL * 6);
  EXPECT_EQ(header.rank.value(), wire::CanaryHeader::no_rank);
  EXPECT_EQ(header.child_address, self.address);
  EXPECT_EQ(header.child_port.value(), 17000u);
  EXPECT_EQ(header.destination, worker(0).destination);
  EXPECT_FALSE(header.bypass());
  EXPECT_EQ(seen.frame.ipv4->source, self.address);
  EXPECT_EQ(seen.frame.ipv4->destination, worker(0).destination);
  EXPECT_EQ(seen.frame.ipv4->ttl, 64u);
  EXPECT_EQ(wire::internet_checksum(std::as_bytes(std::span(seen.frame.ipv4, 1))), 0u);
  EXPECT_EQ(seen.frame.udp->source_port.value(), wire::source_port_of(header.key()));
  EXPECT_EQ(seen.frame.udp->destination_port.value(), 17000u);
  EXPECT_EQ(seen.frame.udp->checksum.value(), 0u);
  EXPECT_EQ(sums[0].port, no_port);
  EXPECT_EQ(sums[0].packet->ingress, worker(0).ingress);
}

TEST_F(Reduce, PartialSumsOfOtherSwitchesAddTheirCounters) {
  auto leaf1 = worker(0);
  leaf1.hosts = 9;
  leaf1.counter = 5;
  auto leaf2 = worker(1);
  leaf2.hosts = 9;
  leaf2.counter = 3;
  EXPECT_TRUE(feed(leaf1, Ints{50}).empty());
  const auto sums = feed(leaf2, Ints{30});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).header().counter.value(), 8u);
}

TEST_F(Reduce, DirectlyOverEthernet) {
  for (std::uint8_t n = 0; n < 3; ++n) {
    auto spec = worker(n);
    spec.encapsulation = wire::Encapsulation::ethernet;
    spec.child_port = 0;
    spec.destination_mac = wire::canary_group_mac;
    const auto sums = feed(spec, Ints{n, 7});
    if (n < 2) {
      EXPECT_TRUE(sums.empty());
      continue;
    }
    ASSERT_EQ(sums.size(), 1u);
    const Seen seen(sums[0]);
    EXPECT_EQ(seen.elements<std::int32_t>(), (Ints{3, 21}));
    EXPECT_EQ(seen.header().child_address, self.address);
    EXPECT_EQ(seen.header().child_port.value(), 0u);
    EXPECT_GE(sums[0].packet->length, wire::ethernet_min_frame_bytes);
  }
}

TEST_F(Reduce, PaddingBehindAFrameIsNotSentOn) {
  auto packet = test::make_canary(pool, worker(0), Ints{9});
  const auto exact = packet->length;
  std::memset(packet->data() + exact, 0xab, 10);
  packet->length += 10;
  feed(std::move(packet));
  const auto sums = harness->expire(Time{1ms});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].packet->length, exact);
}

TEST_F(Reduce, EmptyPayloadIsABarrier) {
  feed(worker(0), Ints{});
  feed(worker(1), Ints{});
  const auto sums = feed(worker(2), Ints{});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).header().counter.value(), 3u);
}

TEST_F(Reduce, StragglerIsForwardedAtOnceInTheNameOfTheSwitch) {
  feed(worker(0), Ints{1});
  harness->expire(Time{1ms});
  const auto late = feed(worker(1), Ints{2}, Time{2ms});
  ASSERT_EQ(late.size(), 1u);
  EXPECT_TRUE(late[0].received);
  const Seen seen(late[0]);
  EXPECT_EQ(seen.elements<std::int32_t>(), (Ints{2}));
  EXPECT_EQ(seen.header().counter.value(), 1u);
  EXPECT_EQ(seen.header().fingerprint.value(), worker(1).fingerprint);
  EXPECT_EQ(seen.header().child_address, self.address);
  EXPECT_EQ(seen.frame.ipv4->source, self.address);
  EXPECT_EQ(seen.frame.ipv4->ttl, worker(1).ttl) << "a routing loop must end";
  EXPECT_EQ(harness->figure("stragglers_total"), 1u);
  ASSERT_EQ(engine->descriptors(Time{2ms}, 10).size(), 1u);
  EXPECT_EQ(engine->descriptors(Time{2ms}, 10)[0].children.size(), 2u);
}

TEST_F(Reduce, ContributionAfterTheCompleteSumIsAnOvercount) {
  feed(worker(0), Ints{1});
  feed(worker(1), Ints{2});
  feed(worker(2), Ints{3});
  expect_drop(test::make_canary(pool, worker(3), Ints{2}), drop::overcount);
  EXPECT_EQ(feed(as_result(worker(0)), Ints{1}).size(), 3u) << "the fourth is no child";
}

TEST_F(Reduce, MoreContributionsThanHostsAreDropped) {
  auto two = worker(0);
  two.counter = 2;
  feed(two, Ints{1});
  auto another = worker(1);
  another.counter = 2;
  expect_drop(test::make_canary(pool, another, Ints{1}), drop::overcount);
  const auto sums = feed(worker(2), Ints{1});
  ASSERT_EQ(sums.size(), 1u) << "the block itself is unharmed";
  EXPECT_EQ(Seen(sums[0]).elements<std::int32_t>(), (Ints{2}));
}

TEST_F(Reduce, CounterSumDoesNotWrap) {
  auto most = worker(0);
  most.hosts = 65535;
  most.counter = 65534;
  EXPECT_EQ(feed(most, Ints{1}).size(), 1u);
  auto again = worker(1);
  again.hosts = 65535;
  again.counter = 65534;
  expect_drop(test::make_canary(pool, again, Ints{1}), drop::overcount);
}

TEST_F(Reduce, WhatCannotBeAddedUpIsAMismatch) {
  feed(worker(0), Ints{1, 2});
  const auto expect_mismatch = [this](auto change) {
    auto spec = worker(1);
    change(spec);
    expect_drop(test::make_canary(pool, spec, Ints{1, 2}), drop::mismatch);
  };
  expect_mismatch([](CanarySpec& s) { s.type = wire::ElementType::f32; });
  expect_mismatch([](CanarySpec& s) { s.type = wire::ElementType::i16; });
  expect_mismatch([](CanarySpec& s) { s.op = wire::Operator::max; });
  expect_mismatch([](CanarySpec& s) { s.hosts = 5; });
  expect_mismatch([](CanarySpec& s) { s.udp_port = 17002; });
  expect_mismatch([](CanarySpec& s) { s.destination = wire::Ipv4Address(10, 0, 0, 98); });
  expect_mismatch([](CanarySpec& s) { s.encapsulation = wire::Encapsulation::ethernet; });
  expect_drop(test::make_canary(pool, worker(1), Ints{1}), drop::mismatch);
}

TEST_F(Reduce, EveryContributionIsAccountedToItsJob) {
  feed(worker(0), Ints{1});
  feed(worker(1), Ints{1});
  auto other = worker(0);
  other.job = 8;
  feed(other, Ints{1});
  std::uint64_t contributions = 0;
  for (const auto& job : engine->jobs()) {
    contributions += job.contributions;
    EXPECT_EQ(job.descriptors, 1u);
    EXPECT_EQ(job.contributions, job.job == 7 ? 2u : 1u);
  }
  EXPECT_EQ(contributions, 3u);
}

// Collisions (3.2.1): one descriptor, held by block 1.
class Collision : public CanaryTest {
 protected:
  Collision() {
    restart(config_with(1));
    feed(worker(0), Ints{1});
  }
};

TEST_F(Collision, GoesToTheLeaderWithSwitchAndPort) {
  auto spec = worker(5);
  spec.id = 2;
  const auto out = feed(spec, Ints{6});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].received);
  const Seen seen(out[0]);
  const auto& header = seen.header();
  EXPECT_TRUE(header.bypass());
  EXPECT_EQ(header.switch_address.value(), self.id);
  EXPECT_EQ(header.switch_ipv4, self.address);
  EXPECT_EQ(header.children.value(), 1u << 5);
  EXPECT_EQ(header.shard, 0u);
  EXPECT_EQ(header.child_mac, spec.source_mac);
  EXPECT_EQ(header.child_address, spec.child_address);
  EXPECT_EQ(header.child_port.value(), spec.child_port);
  EXPECT_EQ(header.rank.value(), spec.rank);
  EXPECT_EQ(header.counter.value(), 1u);
  EXPECT_EQ(seen.elements<std::int32_t>(), (Ints{6}));
  EXPECT_EQ(seen.frame.ipv4->ttl, spec.ttl);
  EXPECT_EQ(harness->figure("collisions_total"), 1u);
}

TEST_F(Collision, PortsBeyondTheFirstShardAreNamed) {
  auto spec = worker(1);
  spec.id = 2;
  spec.ingress = 71;
  const auto out = feed(spec, Ints{6});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(Seen(out[0]).header().children.value(), 1u << 7);
  EXPECT_EQ(Seen(out[0]).header().shard, 2u);
  spec.ingress = 8192;
  expect_drop(test::make_canary(pool, spec, Ints{6}), drop::bad_port);
}

TEST_F(Collision, OtherBlocksAreStoredOnceTheSlotIsFree) {
  harness->expire(Time{1ms});
  feed(as_result(worker(0)), Ints{1});
  auto spec = worker(1);
  spec.id = 2;
  EXPECT_TRUE(feed(spec, Ints{6}).empty());
  EXPECT_EQ(harness->figure("collisions_total"), 0u);
}

TEST_F(Reduce, BlocksInFlightOfOneJobNeverCollide) {
  for (std::uint32_t id = 1000; id < 1064; ++id) {
    auto spec = worker(0);
    spec.id = id;
    EXPECT_TRUE(feed(spec, Ints{1}).empty()) << id;
  }
  EXPECT_EQ(harness->figure("descriptors_in_use"), 64u);
  auto one_too_many = worker(0);
  one_too_many.id = 2000;
  EXPECT_EQ(feed(one_too_many, Ints{1}).size(), 1u);
  EXPECT_EQ(harness->figure("collisions_total"), 1u);
}

TEST_F(Reduce, ChildWithoutRoomIsNotWaitedFor) {
  const auto child = [](std::uint8_t n) {
    auto spec = worker(n);
    spec.hosts = ChildrenTable::children_max + 2;
    return spec;
  };
  for (std::uint8_t n = 0; n < ChildrenTable::children_max; ++n) {
    EXPECT_TRUE(feed(child(n), Ints{1}).empty());
  }
  const auto out = feed(child(ChildrenTable::children_max), Ints{1});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_TRUE(Seen(out[0]).header().bypass());
  EXPECT_EQ(Seen(out[1]).header().counter.value(), ChildrenTable::children_max);
}

TEST_F(Reduce, ChildWithoutRoomGoesToTheLeaderLikeACollision) {
  const auto child = [](std::uint8_t n) {
    auto spec = worker(n);
    spec.hosts = 200;
    return spec;
  };
  for (std::uint8_t n = 0; n < ChildrenTable::children_max; ++n) {
    EXPECT_TRUE(feed(child(n), Ints{1}).empty());
  }
  const auto out = feed(child(ChildrenTable::children_max), Ints{1});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(Seen(out[0]).header().bypass());
  EXPECT_EQ(harness->figure("children_overflows_total"), 1u);
  auto again = child(3);
  again.fingerprint = 5;
  EXPECT_TRUE(feed(again, Ints{1}).empty()) << "a known child still has its place";
  const auto sums = harness->expire(Time{1ms});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).elements<std::int32_t>(), (Ints{ChildrenTable::children_max + 1}));
}

TEST_F(Reduce, AccumulatorWiderThanItsRoomGoesToTheLeaderLikeACollision) {
  auto spec = worker(0);
  spec.type = wire::ElementType::f8e4m3;
  const std::size_t fits = WideStore::accumulator_bytes_max / 4;
  EXPECT_EQ(feed(spec, std::vector<std::uint8_t>(fits + 1, 0x38)).size(), 1u);
  EXPECT_EQ(harness->figure("accumulator_overflows_total"), 1u);
  EXPECT_TRUE(feed(spec, std::vector<std::uint8_t>(fits, 0x38)).empty());
  EXPECT_TRUE(feed(worker(1), std::vector<std::uint8_t>(fits, 0x38)).empty());
  EXPECT_EQ(harness->drops(drop::mismatch), 1u);
}

}  // namespace
}  // namespace tributary::canary
