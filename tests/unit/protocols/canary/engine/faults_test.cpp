// SPDX-License-Identifier: BSD-3-Clause
// Tests loss and faults at a switch (3.3): releases, duplicates, blocks without data, soft state.
#include "fixture.h"
#include "protocols/canary/engine/drop_reasons.h"

namespace tributary::canary {
namespace {

CanarySpec as_release(CanarySpec spec) {
  spec = as_result(spec);
  spec.kind = wire::CanaryKind::release;
  spec.counter = 0;
  spec.fingerprint = 0;
  return spec;
}

const Ints none;

class Release : public CanaryTest {};

TEST_F(Release, IsCopiedToTheChildrenAndFreesTheDescriptor) {
  feed(worker(0), Ints{1, 2});
  feed(worker(1), Ints{3, 4});
  harness->expire(Time{1ms});
  const auto copies = feed(as_release(worker(0)), none);
  ASSERT_EQ(copies.size(), 2u);
  for (std::uint8_t n = 0; n < 2; ++n) {
    const Seen seen(copies[n]);
    EXPECT_EQ(copies[n].port, worker(n).ingress);
    EXPECT_EQ(seen.header().kind, wire::CanaryKind::release);
    EXPECT_EQ(seen.header().counter.value(), 0u);
    EXPECT_EQ(seen.header().destination, worker(n).child_address);
    EXPECT_EQ(seen.frame.ipv4->destination, worker(n).child_address);
    EXPECT_EQ(seen.frame.udp->destination_port.value(), worker(n).child_port);
  }
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
  EXPECT_EQ(harness->figure("releases_total"), 1u);
  EXPECT_EQ(harness->figure("results_total"), 0u);
  EXPECT_EQ(engine->jobs().at(0).results, 0u);
  expect_drop(test::make_canary(pool, as_release(worker(0)), none), drop::no_descriptor);
}

TEST_F(Release, EndsTheGatheringOfAWideAccumulatorToo) {
  auto spec = worker(0);
  spec.type = wire::ElementType::bf16;
  for (int round = 0; round < 100; ++round) {
    EXPECT_TRUE(feed(spec, std::vector<std::uint16_t>{0x3f80}).empty());
    EXPECT_EQ(feed(as_release(spec), none).size(), 1u);
    EXPECT_EQ(engine->deadline(), never);
  }
}

TEST_F(Release, NeedsToKnowNoMoreThanTheId) {
  feed(worker(0), Ints{1});
  auto spec = as_release(worker(0));
  spec.type = wire::ElementType::f64;
  spec.op = wire::Operator::max;
  EXPECT_EQ(feed(spec, none).size(), 1u);
  feed(worker(0), Ints{1});
  spec.hosts = 9;
  expect_drop(test::make_canary(pool, spec, none), drop::mismatch);
}

TEST_F(Release, TeachesNothingAboutTheNextBlock) {
  auto config = config_with(64);
  config.learn_contributions = true;
  restart(config);
  feed(block(1), Ints{1});
  harness->expire(Time{1ms});
  feed(as_release(block(1)), none);
  EXPECT_TRUE(feed(block(2), Ints{1}).empty()) << "it does not expect one contribution";
}

class Duplicates : public CanaryTest {};

TEST_F(Duplicates, ContributionThatCameTwiceCountsOnce) {
  feed(worker(0), Ints{1});
  expect_drop(test::make_canary(pool, worker(0), Ints{1}), drop::duplicate);
  feed(worker(1), Ints{2});
  expect_drop(test::make_canary(pool, worker(0), Ints{1}), drop::duplicate);
  const auto sums = feed(worker(2), Ints{4});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).elements<std::int32_t>(), (Ints{7}));
  EXPECT_EQ(Seen(sums[0]).header().counter.value(), 3u);
  EXPECT_EQ(Seen(sums[0]).header().fingerprint.value(), 0x9e3779b97f4a7c15ULL * 6);
}

TEST_F(Duplicates, AfterTheSumTheyAreNoStragglersAndNoOvercount) {
  feed(worker(0), Ints{1});
  harness->expire(Time{1ms});
  expect_drop(test::make_canary(pool, worker(0), Ints{1}), drop::duplicate);
  feed(worker(1), Ints{2});
  feed(worker(2), Ints{2});
  expect_drop(test::make_canary(pool, worker(2), Ints{2}), drop::duplicate);
  EXPECT_EQ(harness->figure("stragglers_total"), 2u);
  EXPECT_EQ(harness->drops(drop::overcount), 0u);
}

TEST_F(Duplicates, StragglersOfASwitchBelowPass) {
  auto below = worker(0);
  below.hosts = 9;
  feed(below, Ints{1});
  for (int straggler = 0; straggler < 3; ++straggler) {
    below.fingerprint += 77;
    feed(below, Ints{1});
    expect_drop(test::make_canary(pool, below, Ints{1}), drop::duplicate);
  }
  const auto sums = harness->expire(Time{1ms});
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(Seen(sums[0]).header().counter.value(), 4u);
  EXPECT_EQ(feed(as_result(below), Ints{9}).size(), 1u) << "one child";
}

TEST_F(Duplicates, EveryAttemptIsABlockOfItsOwn) {
  feed(block(wire::canary_id(5, 0)), Ints{1});
  feed(block(wire::canary_id(5, 1)), Ints{1});
  EXPECT_EQ(harness->figure("descriptors_in_use"), 2u);
  EXPECT_EQ(harness->drops(drop::duplicate), 0u);
}

class Lengths : public CanaryTest {};

// In a broadcast packets going up have no elements, and those coming down have some.
TEST_F(Lengths, ResultMayBeLongerThanTheContributions) {
  for (std::uint8_t n = 0; n < 3; ++n) {
    feed(worker(n), none);
  }
  const auto copies = feed(as_result(worker(0)), Ints{1, 2, 3, 4});
  ASSERT_EQ(copies.size(), 3u);
  EXPECT_EQ(Seen(copies[0]).elements<std::int32_t>(), (Ints{1, 2, 3, 4}));
  EXPECT_EQ(Seen(copies[2]).elements<std::int32_t>(), (Ints{1, 2, 3, 4}));
}

// In a reduce packets coming down only free the descriptors.
TEST_F(Lengths, ResultMayBeEmpty) {
  feed(worker(0), Ints{1, 2, 3});
  const auto copies = feed(as_result(worker(0)), none);
  ASSERT_EQ(copies.size(), 1u);
  EXPECT_EQ(Seen(copies[0]).header().elements.value(), 0u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
}

TEST_F(Lengths, ContributionsOfOneBlockAreEquallyLong) {
  feed(worker(0), none);
  expect_drop(test::make_canary(pool, worker(1), Ints{1}), drop::mismatch);
}

TEST_F(Lengths, NoElementsOfEveryTypeMakeASumWithoutAny) {
  for (std::size_t type = 0; type < wire::element_type_count; ++type) {
    std::vector<test::Sent> sums;
    for (std::uint8_t n = 0; n < 3; ++n) {
      auto spec = worker(n);
      spec.id = static_cast<std::uint32_t>(100 + type);
      spec.type = static_cast<wire::ElementType>(type);
      spec.op = wire::any_operator(spec.type);
      sums = feed(spec, std::vector<std::byte>{});
    }
    ASSERT_EQ(sums.size(), 1u) << type;
    EXPECT_EQ(Seen(sums[0]).header().counter.value(), 3u);
    EXPECT_EQ(Seen(sums[0]).header().elements.value(), 0u);
    EXPECT_TRUE(Seen(sums[0]).view.payload.empty());
  }
}

class SoftState : public CanaryTest {
 protected:
  // Makes blocks that have sent their sums, and whose results never come.
  void fill_with_dead_blocks(std::uint32_t count, Time now) {
    for (std::uint32_t id = 0; id < count; ++id) {
      auto spec = block(id);
      spec.job = 999;
      spec.hosts = 2;
      feed(spec, Ints{1}, now);
    }
  }
};

TEST_F(SoftState, SentDescriptorMakesRoomOnceItIsOld) {
  auto config = config_with(1);
  config.reclaim_after = 100ms;
  restart(config);
  auto dead = block(1);
  dead.hosts = 2;
  feed(dead, Ints{1});
  const auto young = feed(block(2), Ints{1}, Time{100ms} - 1ns);
  ASSERT_EQ(young.size(), 1u);
  EXPECT_TRUE(Seen(young[0]).header().bypass());
  EXPECT_TRUE(feed(block(2), Ints{1}, Time{100ms}).empty()) << "it has the slot now";
  EXPECT_EQ(harness->figure("reclaimed_total"), 1u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 1u);
  // The late result finds nothing; its workers will ask the leader.
  expect_drop(test::make_canary(pool, as_result(dead), Ints{1}), drop::no_descriptor);
}

TEST_F(SoftState, GatheringBlockIsNeverReclaimed) {
  auto config = config_with(1);
  config.reclaim_after = 1us;
  restart(config);
  feed(block(1), Ints{1});
  const auto out = feed(block(2), Ints{1}, Time{10s});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(Seen(out[0]).header().bypass());
  EXPECT_EQ(harness->figure("reclaimed_total"), 0u);
}

TEST_F(SoftState, OlderOfTwoDeadBlocksMakesRoom) {
  int older_went = 0;
  for (std::uint32_t id = 0; id < 32; ++id) {
    restart(config_with(2));
    auto dead = block(0);
    dead.job = 999;
    dead.hosts = 2;
    feed(dead, Ints{1}, Time{});
    dead.id = 1;
    feed(dead, Ints{1}, Time{100ms});
    ASSERT_EQ(harness->figure("descriptors_in_use"), 2u);
    EXPECT_TRUE(feed(block(id), Ints{1}, Time{700ms}).empty());
    EXPECT_EQ(harness->figure("reclaimed_total"), 1u);
    older_went += engine->descriptors(Time{}, 1).at(0).id == 1 ? 1 : 0;
  }
  EXPECT_GT(older_went, 16) << "always, where the block may live in either slot";
}

TEST_F(SoftState, TableFullOfDeadBlocksHealsItself) {
  auto config = config_with(64);
  restart(config);
  fill_with_dead_blocks(1000, Time{});
  ASSERT_EQ(harness->figure("descriptors_in_use"), 64u);
  // 500 ms later a job with 64 blocks in flight finds every slot it needs.
  const auto collisions = harness->figure("collisions_total");
  for (std::uint32_t id = 0; id < 64; ++id) {
    EXPECT_TRUE(feed(block(id), Ints{1}, Time{500ms}).empty()) << id;
  }
  EXPECT_EQ(harness->figure("collisions_total"), collisions);
  EXPECT_EQ(harness->figure("reclaimed_total"), 64u);
  for (const auto& job : engine->jobs()) {
    EXPECT_EQ(job.descriptors, job.job == 7 ? 64u : 0u);
  }
}

TEST_F(SoftState, NewAgesAreInForceForTheBlocksThatAreHeld) {
  auto config = config_with(1);
  config.reclaim_after = 10s;
  config.age_max = 20s;
  restart(config);
  fill_with_dead_blocks(1, Time{});
  EXPECT_EQ(engine->deadline(), Time{20s});
  config.reclaim_after = 10ms;
  config.age_max = 1s;
  EXPECT_TRUE(engine->reconfigure(config));
  EXPECT_EQ(engine->deadline(), Time{1s});
  EXPECT_TRUE(feed(block(1), Ints{1}, Time{10ms}).empty());
  EXPECT_EQ(harness->figure("reclaimed_total"), 1u);
}

// The next attempt of every block in flight finds a slot although all first attempts lie there
// dead.
TEST_F(SoftState, AttemptsOfABlockHaveSlotsOfTheirOwn) {
  for (std::uint32_t attempt = 0; attempt < 4; ++attempt) {
    for (std::uint32_t sequence = 0; sequence < 16; ++sequence) {
      EXPECT_TRUE(feed(block(wire::canary_id(sequence, attempt)), Ints{1}).empty());
    }
  }
  EXPECT_EQ(harness->figure("collisions_total"), 0u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 64u);
}

TEST_F(SoftState, BlocksInFlightDoNotCollideWhereNumbersWrap) {
  for (std::uint32_t i = 0; i < 64; ++i) {
    const auto sequence = (wire::canary_sequence_mask - 31 + i) & wire::canary_sequence_mask;
    EXPECT_TRUE(feed(block(sequence), Ints{1}).empty());
  }
  EXPECT_EQ(harness->figure("descriptors_in_use"), 64u);
  EXPECT_EQ(harness->figure("collisions_total"), 0u);
}

class BetweenHosts : public CanaryTest, public ::testing::WithParamInterface<wire::CanaryKind> {};

TEST_P(BetweenHosts, PassesUntouchedAndIsCounted) {
  feed(worker(0), Ints{1});
  auto spec = worker(1);
  spec.kind = GetParam();
  spec.counter = 0;
  auto packet = test::make_canary(pool, spec, none);
  const std::vector<std::byte> before(packet->bytes().begin(), packet->bytes().end());
  const auto out = feed(std::move(packet));
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].received);
  EXPECT_EQ(out[0].port, no_port);
  EXPECT_TRUE(std::equal(before.begin(), before.end(), out[0].packet->bytes().begin(),
                         out[0].packet->bytes().end()));
  EXPECT_EQ(harness->figure("passed_total"), 1u);
  EXPECT_EQ(harness->figure("requests_total") + harness->figure("failures_total") +
                harness->figure("pendings_total"),
            1u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 1u);

  spec.destination = self.address;
  expect_drop(test::make_canary(pool, spec, none), DropReason::local_unserved);
}

INSTANTIATE_TEST_SUITE_P(Kinds, BetweenHosts,
                         ::testing::Values(wire::CanaryKind::request, wire::CanaryKind::failure,
                                           wire::CanaryKind::pending));

TEST_F(SoftState, DirectContributionsPass) {
  auto spec = block(wire::canary_id(3, wire::canary_direct_attempt));
  spec.bypass = true;
  const auto out = feed(spec, Ints{1});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_TRUE(out[0].received);
  EXPECT_EQ(Seen(out[0]).header().switch_ipv4, wire::Ipv4Address{});
  EXPECT_EQ(harness->figure("passed_total"), 1u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 0u);
}

}  // namespace
}  // namespace tributary::canary
