// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"
#include "protocols/canary/engine/drop_reasons.h"

namespace tributary::canary {
namespace {

class Broadcast : public CanaryTest {
 protected:
  // All three workers have contributed to block 1 and the sum has gone on.
  void gather() {
    feed(worker(0), Ints{1});
    feed(worker(1), Ints{2});
    feed(worker(2), Ints{3});
  }
};

TEST_F(Broadcast, EveryChildGetsItsOwnFrameAndTheDescriptorIsFreed) {
  gather();
  const auto copies = feed(as_result(worker(0)), Ints{106});
  ASSERT_EQ(copies.size(), 3u);
  for (std::uint8_t n = 0; n < 3; ++n) {
    const auto spec = worker(n);
    const Seen seen(copies[n]);
    EXPECT_EQ(copies[n].port, spec.ingress);
    EXPECT_FALSE(copies[n].received);
    EXPECT_EQ(seen.elements<std::int32_t>(), (Ints{106}));
    EXPECT_EQ(seen.header().kind, wire::CanaryKind::result);
    EXPECT_TRUE(seen.header().multicast());
    EXPECT_EQ(seen.header().destination, spec.child_address);
    EXPECT_EQ(seen.header().child_port.value(), spec.child_port);
    EXPECT_EQ(seen.frame.ethernet->destination, spec.source_mac);
    EXPECT_EQ(seen.frame.ipv4->source, self.address);
    EXPECT_EQ(seen.frame.ipv4->destination, spec.child_address);
    EXPECT_EQ(seen.frame.ipv4->ttl, 64u);
    EXPECT_EQ(seen.frame.udp->destination_port.value(), spec.child_port);
    EXPECT_EQ(seen.frame.udp->source_port.value(), wire::source_port_of(seen.header().key()));
  }
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
  EXPECT_EQ(engine->deadline(), never);
  EXPECT_EQ(harness->figure("results_total"), 1u);
  EXPECT_EQ(harness->figure("result_copies_total"), 3u);
  expect_drop(test::make_canary(pool, as_result(worker(0)), Ints{106}), drop::no_descriptor);
}

TEST_F(Broadcast, ChildThatSentTwiceGetsOneCopy) {
  auto child = worker(0);
  feed(child, Ints{1});
  harness->expire(Time{1ms});
  child.fingerprint = 1;
  feed(child, Ints{1});
  child.fingerprint = 2;
  child.ingress = 5;
  feed(child, Ints{1});
  EXPECT_EQ(harness->figure("stragglers_total"), 2u);
  const auto copies = feed(as_result(worker(0)), Ints{9});
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(copies[0].port, worker(0).ingress);
}

TEST_F(Broadcast, WorkersOfOneHostAreDifferentChildren) {
  auto second = worker(0);
  second.child_port = 17100;
  feed(worker(0), Ints{1});
  feed(second, Ints{1});
  EXPECT_EQ(feed(as_result(worker(0)), Ints{9}).size(), 2u);
}

TEST_F(Broadcast, StragglersAreServedToo) {
  feed(worker(0), Ints{1});
  harness->expire(Time{1ms});
  feed(worker(1), Ints{1});
  EXPECT_EQ(feed(as_result(worker(0)), Ints{9}).size(), 2u);
}

TEST_F(Broadcast, DirectlyOverEthernet) {
  for (std::uint8_t n = 0; n < 3; ++n) {
    auto spec = worker(n);
    spec.encapsulation = wire::Encapsulation::ethernet;
    spec.child_port = 0;
    feed(spec, Ints{n});
  }
  auto result = as_result(worker(0));
  result.encapsulation = wire::Encapsulation::ethernet;
  const auto copies = feed(result, Ints{9});
  ASSERT_EQ(copies.size(), 3u);
  const Seen seen(copies[1]);
  EXPECT_EQ(seen.frame.ethernet->type.value(), wire::ethertype::canary);
  EXPECT_EQ(seen.frame.ethernet->destination, worker(1).source_mac);
  EXPECT_EQ(seen.header().destination, worker(1).child_address);
}

TEST_F(Broadcast, ResultForSomebodyElseIsForwardedUntouched) {
  gather();
  auto spec = as_result(worker(0));
  spec.destination = wire::Ipv4Address(10, 9, 9, 9);
  auto packet = test::make_canary(pool, spec, Ints{1});
  const std::vector<std::byte> before(packet->bytes().begin(), packet->bytes().end());
  const auto out = feed(std::move(packet));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].received);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), out[0].packet->bytes().begin(),
                         out[0].packet->bytes().end()));
  EXPECT_EQ(harness->figure("descriptors_in_use"), 1u);
}

TEST_F(Broadcast, ResultOfAnotherShapeIsAMismatch) {
  gather();
  const auto expect_mismatch = [this](auto change) {
    auto spec = as_result(worker(0));
    change(spec);
    expect_drop(test::make_canary(pool, spec, Ints{1}), drop::mismatch);
  };
  expect_mismatch([](CanarySpec& s) { s.type = wire::ElementType::f32; });
  expect_mismatch([](CanarySpec& s) { s.op = wire::Operator::min; });
  expect_mismatch([](CanarySpec& s) { s.hosts = s.counter = 5; });
  expect_mismatch([](CanarySpec& s) { s.encapsulation = wire::Encapsulation::ethernet; });
  EXPECT_EQ(feed(as_result(worker(0)), Ints{1}).size(), 3u);
}

// A reduce ends with results without data, a broadcast with longer ones than it began with.
TEST_F(Broadcast, ResultMayHaveAnotherLengthThanTheContributions) {
  for (const auto& elements : {Ints{}, Ints{1, 2}}) {
    gather();
    EXPECT_EQ(feed(as_result(worker(0)), elements).size(), 3u);
  }
}

TEST_F(Broadcast, ResultBeforeTheTimeoutFreesTheAccumulatorToo) {
  auto spec = worker(0);
  spec.type = wire::ElementType::f16;
  for (int round = 0; round < 200; ++round) {
    EXPECT_TRUE(feed(spec, std::vector<std::uint16_t>{0x3c00}).empty());
    auto result = as_result(spec);
    EXPECT_EQ(feed(result, std::vector<std::uint16_t>{0x3c00}).size(), 1u);
  }
  EXPECT_EQ(engine->deadline(), never);
}

TEST_F(Broadcast, CopiesThatFindNoBufferAreCountedAsLost) {
  gather();
  auto result = test::make_canary(pool, as_result(worker(0)), Ints{1});
  std::vector<PacketPtr> hoard;
  while (auto packet = pool.allocate()) {
    hoard.push_back(std::move(packet));
  }
  const auto copies = feed(std::move(result));
  EXPECT_EQ(copies.size(), 1u) << "the last child gets the received packet itself";
  EXPECT_EQ(harness->losses(DropReason::no_buffer), 2u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
}

// There are enough elements for the copies to share them.
TEST_F(Broadcast, ManyElementsReachEveryChildAndLeaveNoPacketBehind) {
  const Ints elements(300, 7);
  const auto before = pool.outstanding();
  gather();
  {
    const auto copies = feed(as_result(worker(0)), elements);
    ASSERT_EQ(copies.size(), 3u);
    for (const auto& copy : copies) {
      EXPECT_EQ(Seen(copy).elements<std::int32_t>(), elements);
    }
  }
  EXPECT_EQ(pool.outstanding(), before);
}

TEST_F(Broadcast, SharedElementsComeBackAlsoWhereNoHeaderFindsABuffer) {
  gather();
  auto result = test::make_canary(pool, as_result(worker(0)), Ints(300, 7));
  const auto before = pool.outstanding();
  std::vector<PacketPtr> hoard;
  while (auto packet = pool.allocate()) {
    hoard.push_back(std::move(packet));
  }
  hoard.pop_back();  // one child gets a copy
  EXPECT_EQ(feed(std::move(result)).size(), 1u);
  EXPECT_EQ(harness->losses(DropReason::no_buffer), 2u);
  hoard.clear();
  EXPECT_EQ(pool.outstanding(), before - 1) << "the result is back";
}

class Restoration : public CanaryTest {
 protected:
  // The only slot is taken, so packets of child() go to their leader.
  Restoration() {
    restart(config_with(1));
    feed(worker(0), Ints{1});
    EXPECT_EQ(feed(child(), Ints{7}).size(), 1u);
  }
  static CanarySpec child() {
    auto spec = worker(5);
    spec.id = 2;
    return spec;
  }
  static CanarySpec restoration() {
    auto spec = as_result(child());
    spec.kind = wire::CanaryKind::restoration;
    spec.ip_source = child().destination;
    spec.switch_address = self.id;
    spec.switch_ipv4 = self.address;
    spec.children = 1u << 5;
    spec.child_address = worker(5).child_address;
    spec.child_port = worker(5).child_port;
    spec.child_mac = worker(5).source_mac;
    return spec;
  }
  template <typename Change>
  void expect_refused(Change change, DropReason reason) {
    auto spec = restoration();
    change(spec);
    expect_drop(test::make_canary(pool, spec, Ints{1}), reason);
  }
};

TEST_F(Restoration, SendsAResultToTheChildAndTouchesNoDescriptor) {
  const auto out = feed(restoration(), Ints{77});
  ASSERT_EQ(out.size(), 1u);
  const Seen seen(out[0]);
  EXPECT_EQ(out[0].port, 5u);
  EXPECT_EQ(seen.header().kind, wire::CanaryKind::result);
  EXPECT_EQ(seen.header().destination, worker(5).child_address);
  EXPECT_EQ(seen.header().children.value(), 0u);
  EXPECT_EQ(seen.header().switch_address.value(), 0u);
  EXPECT_EQ(seen.frame.ethernet->destination, worker(5).source_mac);
  EXPECT_EQ(seen.frame.ipv4->destination, worker(5).child_address);
  EXPECT_EQ(seen.frame.udp->destination_port.value(), worker(5).child_port);
  EXPECT_EQ(seen.elements<std::int32_t>(), (Ints{77}));
  EXPECT_EQ(harness->figure("descriptors_in_use"), 1u);
  EXPECT_EQ(harness->figure("restorations_total"), 1u);
}

// No packet may make the switch send to where no contribution came from, nor more than it passed
// on.
TEST_F(Restoration, OnlyOfAChildThatWasPassedOnOnceAndByItsLeader) {
  const auto refused = drop::no_descriptor;
  expect_refused([](CanarySpec& s) { s.id = 3; }, refused);
  expect_refused([](CanarySpec& s) { s.id = wire::canary_id(2, 1); }, refused);
  expect_refused([](CanarySpec& s) { s.job += 1; }, refused);
  expect_refused([](CanarySpec& s) { s.children = 1u << 4; }, refused);
  expect_refused([](CanarySpec& s) { s.child_mac = worker(4).source_mac; }, refused);
  expect_refused([](CanarySpec& s) { s.child_address = worker(4).child_address; }, refused);
  expect_refused([](CanarySpec& s) { s.child_port += 1; }, refused);
  expect_refused([](CanarySpec& s) { s.ip_source = worker(4).child_address; }, refused);
  EXPECT_EQ(feed(restoration(), Ints{77}).size(), 1u);
  expect_refused([](CanarySpec&) {}, refused);
  EXPECT_EQ(harness->figure("restorations_total"), 1u);
}

TEST_F(Restoration, WhatAChildSentTwiceIsAnsweredOnce) {
  EXPECT_EQ(feed(child(), Ints{7}).size(), 1u);
  EXPECT_EQ(feed(restoration(), Ints{77}).size(), 1u);
  expect_refused([](CanarySpec&) {}, drop::no_descriptor);
}

TEST_F(Restoration, PortThatDoesNotExistIsRefused) {
  expect_refused([](CanarySpec& s) { s.children = 1u << 8; }, drop::bad_port);
  expect_refused([](CanarySpec& s) { s.shard = 1; }, drop::bad_port);
  expect_refused([](CanarySpec& s) { s.shard = 255; }, drop::bad_port);
}

TEST_F(Restoration, LyingFieldsAreRefused) {
  const auto malformed = drop::malformed;
  expect_refused([](CanarySpec& s) { s.children = 0; }, malformed);
  expect_refused([](CanarySpec& s) { s.children = 3; }, malformed);
  expect_refused([](CanarySpec& s) { s.switch_address = 43; }, malformed);
  expect_refused([](CanarySpec& s) { s.child_mac = wire::broadcast_mac; }, malformed);
  expect_refused([](CanarySpec& s) { s.child_address = self.address; }, malformed);
  expect_refused([](CanarySpec& s) { s.child_port = 53; }, malformed);
}

// A leader that had to bypass one switch restores the subtree behind it: two engine objects.
TEST(CollisionEndToEnd, SubtreeBehindACollisionGetsItsResult) {
  HeapPacketPool pool{64, 2048};
  const engine::SwitchIdentity leaf_id{7, wire::Ipv4Address{10, 0, 255, 7}, {}, 4};
  const engine::SwitchIdentity root_id{8, wire::Ipv4Address{10, 0, 255, 8}, {}, 4};
  {
    CanaryEngine leaf_engine(config_with(1), leaf_id, pool);
    CanaryEngine root_engine(config_with(64), root_id, pool);
    test::EngineHarness leaf(leaf_engine);
    test::EngineHarness root(root_engine);

    auto occupant = worker(3);
    occupant.id = 500;
    EXPECT_TRUE(leaf.process(test::make_canary(pool, occupant, Ints{0}), Time{}).empty());
    auto victim = worker(1);
    victim.hosts = 3;
    auto bypassed = leaf.process(test::make_canary(pool, victim, Ints{10}), Time{});
    ASSERT_EQ(bypassed.size(), 1u);

    // The root leaves the bypassing packet alone and aggregates a worker of its own.
    auto other = worker(2);
    other.hosts = 3;
    auto at_leader = root.process(std::move(bypassed[0].packet), Time{});
    ASSERT_EQ(at_leader.size(), 1u);
    EXPECT_TRUE(root.process(test::make_canary(pool, other, Ints{20}), Time{}).empty());
    const auto sum = root.expire(Time{1ms});
    ASSERT_EQ(sum.size(), 1u);

    // The leader: both are in, 10 + 20 + 5. One result for the root, one restoration for the leaf.
    const Seen collided(at_leader[0]);
    EXPECT_EQ(collided.header().counter.value() + Seen(sum[0]).header().counter.value(), 2u);
    auto result = as_result(other);
    result.destination = Seen(sum[0]).header().child_address;
    const auto down = root.process(test::make_canary(pool, result, Ints{35}), Time{2ms});
    ASSERT_EQ(down.size(), 1u);
    EXPECT_EQ(Seen(down[0]).header().destination, other.child_address);

    auto restoration = as_result(victim);
    restoration.kind = wire::CanaryKind::restoration;
    restoration.ip_source = victim.destination;
    restoration.destination = collided.header().switch_ipv4;
    restoration.switch_ipv4 = collided.header().switch_ipv4;
    restoration.switch_address = collided.header().switch_address.value();
    restoration.children = collided.header().children.value();
    restoration.shard = collided.header().shard;
    restoration.child_mac = collided.header().child_mac;
    restoration.child_address = collided.header().child_address;
    restoration.child_port = collided.header().child_port.value();
    auto through_root = root.process(test::make_canary(pool, restoration, Ints{35}), Time{2ms});
    ASSERT_EQ(through_root.size(), 1u);
    EXPECT_TRUE(through_root[0].received) << "a restoration for another switch only passes";
    const auto restored = leaf.process(std::move(through_root[0].packet), Time{2ms});
    ASSERT_EQ(restored.size(), 1u);
    const Seen seen(restored[0]);
    EXPECT_EQ(restored[0].port, victim.ingress);
    EXPECT_EQ(seen.elements<std::int32_t>(), (Ints{35}));
    EXPECT_EQ(seen.header().destination, victim.child_address);
    EXPECT_EQ(seen.frame.ethernet->destination, victim.source_mac);
    EXPECT_TRUE(leaf.ledger.balanced());
    EXPECT_TRUE(root.ledger.balanced());
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

}  // namespace
}  // namespace tributary::canary
