// SPDX-License-Identifier: BSD-3-Clause
// Tests sums that cores make of blocks that others own, and their use by the owners.
#include "fixture.h"

namespace tributary::flare {
namespace {

// Counts packets that came to the core that does not own their block, and those that went to the
// owner.
struct Went {
  std::size_t passed_on = 0;
  std::size_t partial_sums = 0;

  friend bool operator==(const Went&, const Went&) = default;
};
constexpr Went nothing{};

// Two cores of a switch: packets also come to the core that does not own their block.
class FlarePartialSums : public ::testing::Test {
 protected:
  // A core's engine, and a harness in place of the switch.
  struct Core {
    Core(const FlareConfig& config, PacketPool& pool, unsigned cores)
        : engine(config, with_cores(cores), pool), harness(engine, cores) {}

    static engine::SwitchIdentity with_cores(unsigned cores) {
      auto identity = self;
      identity.cores = cores;
      return identity;
    }

    FlareEngine engine;
    test::EngineHarness harness;
  };

  void start(const TreeConfig& config, unsigned cores = 2) {
    tree = config;
    settings.trees = {tree};
    owner = std::make_unique<Core>(settings, pool, cores);
    other = std::make_unique<Core>(settings, pool, cores);
  }

  void TearDown() override {
    EXPECT_TRUE(owner->harness.ledger.balanced());
    EXPECT_TRUE(other->harness.ledger.balanced());
    EXPECT_EQ(other->harness.figure("blocks_gathering"), 0u) << "it owns none";
    owner.reset();
    other.reset();
    EXPECT_EQ(pool.outstanding(), 0u);
  }

  // Keeps what the owner has sent in `results`.
  void keep(std::vector<test::Sent> sent) {
    for (auto& one : sent) {
      results.push_back(std::move(one));
    }
  }
  Went hand_over() {
    Went went;
    for (auto& packet : other->harness.passed_on()) {
      ++went.passed_on;
      keep(owner->harness.process(std::move(packet), now));
    }
    for (auto& sum : other->harness.partial_sums()) {
      ++went.partial_sums;
      keep(owner->harness.merge(std::move(sum), now));
    }
    return went;
  }
  template <typename T = std::int32_t>
  Went by_other(FlareSpec spec, const std::vector<T>& elements) {
    spec.tos = tos;
    auto packet = test::make_flare(pool, spec, elements);
    packet->over_ipv6 = over_ipv6;
    EXPECT_TRUE(other->harness.gather(std::move(packet), now).empty());
    return hand_over();
  }
  Went by_other(const FlareSpec& spec) { return by_other(spec, Ints{value_of(spec)}); }
  void by_owner(const FlareSpec& spec) {
    keep(owner->harness.process(test::make_flare(pool, spec, Ints{value_of(spec)}), now));
  }
  Went wait(Duration time) {
    now += time;
    EXPECT_TRUE(other->harness.expire(now).empty());
    return hand_over();
  }

  static std::int32_t value_of(const FlareSpec& spec) {
    return static_cast<std::int32_t>(spec.block * 1000 + (1u << spec.ingress));
  }
  // Expects that the result of a block went to all children once, and is right.
  void expect_result(std::uint64_t block) {
    ASSERT_EQ(results.size(), tree.children.size());
    std::int32_t sum = 0;
    std::uint64_t tags = 0;
    for (const auto child : tree.children) {
      sum += value_of(from(tree, child, block));
      tags += from(tree, child, block).fingerprint;
    }
    const Seen seen(results.front());
    EXPECT_EQ(seen.header().block.value(), block);
    EXPECT_EQ(seen.ints(), Ints{sum});
    EXPECT_EQ(seen.header().contributions.value(), tree.workers);
    EXPECT_EQ(seen.header().fingerprint.value(), tags);
    results.clear();
  }
  // The other core has seen that the first three children come there.
  void teach(std::uint64_t block = 0) {
    for (PortIndex child = 0; child < 3; ++child) {
      EXPECT_EQ(by_other(from(tree, child, block)), (Went{.passed_on = 1}));
    }
    by_owner(from(tree, 3, block));
    expect_result(block);
  }
  // Block 0 has the flow of those by which it was taught.
  static constexpr std::uint64_t next_block = 8;

  HeapPacketPool pool{1024, 2048};
  FlareConfig settings;
  TreeConfig tree;
  std::unique_ptr<Core> owner;
  std::unique_ptr<Core> other;
  std::vector<test::Sent> results;
  // What comes to the other core.
  bool over_ipv6 = false;
  std::uint8_t tos = 0;
  Time now = Time{} + 100s;
};

TEST_F(FlarePartialSums, OneGoesToTheOwnerWhenAllAreInThatUsuallyCome) {
  start(root_of(4));
  teach();
  EXPECT_EQ(by_other(from(tree, 1, next_block)), nothing);
  EXPECT_EQ(by_other(from(tree, 0, next_block)), nothing);
  by_owner(from(tree, 3, next_block));
  EXPECT_EQ(by_other(from(tree, 2, next_block)), (Went{.partial_sums = 1}));
  expect_result(next_block);
  EXPECT_EQ(other->harness.figure("handed_over_sums_total"), 1u);
  EXPECT_EQ(other->harness.figure("passed_on_total"), 3u);
  EXPECT_EQ(other->harness.figure("contributions_total"), 3u) << "whoever adds counts";
  EXPECT_EQ(owner->harness.figure("contributions_total"), 5u);
}

TEST_F(FlarePartialSums, TellTheOwnerOverWhichVersionOfIpAndInWhichClassTheyCame) {
  start(root_of(4));
  teach();
  over_ipv6 = true;
  tos = 32 << 2;
  by_owner(from(tree, 3, next_block));
  for (PortIndex child = 0; child < 3; ++child) {
    by_other(from(tree, child, next_block));
  }
  ASSERT_FALSE(results.empty());
  for (const auto& result : results) {
    EXPECT_TRUE(result.packet->over_ipv6);
    EXPECT_EQ(Seen(result).frame.ipv4->tos, tos);
  }
  expect_result(next_block);
}

TEST_F(FlarePartialSums, DoNotHideWhatIsSentAgain) {
  start(root_of(4));
  teach();
  EXPECT_EQ(by_other(again(from(tree, 1, next_block))), (Went{.passed_on = 1}))
      << "the owner may have the result";
}

TEST_F(FlarePartialSums, MayBeAllThatThereIs) {
  start(root_of(3));
  for (PortIndex child = 0; child < 3; ++child) {
    by_other(from(tree, child));
  }
  expect_result(0);
  EXPECT_EQ(by_other(from(tree, 0, next_block)), nothing);
  EXPECT_EQ(by_other(from(tree, 1, next_block)), nothing);
  EXPECT_EQ(by_other(from(tree, 2, next_block)), (Went{.partial_sums = 1}));
  expect_result(next_block);
}

TEST_F(FlarePartialSums, NobodyWaitsForAStranger) {
  auto config = root_of(3);
  for (const auto child : config.children) {
    config.child_addresses.push_back(from(config, child).source);
  }
  start(config);
  auto forged = from(tree, 1, next_block);
  forged.source = wire::Ipv4Address(10, 0, 0, 66);
  EXPECT_EQ(by_other(forged), (Went{.passed_on = 1}));
  EXPECT_EQ(by_other(from(tree, 0, next_block)), (Went{.passed_on = 1})) << "it comes alone";
  forged.block = 2 * next_block;
  EXPECT_EQ(by_other(forged), (Went{.passed_on = 1}));
  EXPECT_EQ(by_other(from(tree, 0, 2 * next_block)), (Went{.passed_on = 1}));
  EXPECT_EQ(owner->harness.drops(drop::wrong_port), 2u);
}

TEST_F(FlarePartialSums, WhoComesAloneIsPassedOn) {
  start(root_of(2));
  for (const std::uint64_t block : {0u, 8u, 16u}) {
    EXPECT_EQ(by_other(from(tree, 0, block)), (Went{.passed_on = 1}));
    by_owner(from(tree, 1, block));
    expect_result(block);
  }
}

TEST_F(FlarePartialSums, WaitForNobodyForLong) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  by_other(from(tree, 1, next_block));
  by_owner(from(tree, 3, next_block));
  EXPECT_EQ(other->engine.deadline(), now + 1ms);
  EXPECT_EQ(wait(999us), nothing);
  EXPECT_EQ(wait(1us), (Went{.partial_sums = 1}));
  EXPECT_EQ(other->engine.deadline(), never);
  EXPECT_EQ(by_other(from(tree, 2, next_block)), (Went{.passed_on = 1})) << "late";
  expect_result(next_block);
}

// Child 2 comes by the other core from now on.
TEST_F(FlarePartialSums, WaitOnceForWhoDoesNotComeAnyMore) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  by_other(from(tree, 1, next_block));
  by_owner(from(tree, 2, next_block));
  by_owner(from(tree, 3, next_block));
  EXPECT_EQ(wait(1ms), (Went{.partial_sums = 1}));
  expect_result(next_block);
  EXPECT_EQ(by_other(from(tree, 0, 16)), nothing);
  EXPECT_EQ(by_other(from(tree, 1, 16)), (Went{.partial_sums = 1}));
  by_owner(from(tree, 2, 16));
  by_owner(from(tree, 3, 16));
  expect_result(16);
}

TEST_F(FlarePartialSums, WaitForWhoIsNewFromTheNextBlockOn) {
  start(root_of(4));
  teach();
  for (PortIndex child = 0; child < 3; ++child) {
    by_other(from(tree, child, next_block));
  }
  EXPECT_EQ(by_other(from(tree, 3, next_block)), (Went{.passed_on = 1}));
  expect_result(next_block);
  for (PortIndex child = 0; child < 3; ++child) {
    EXPECT_EQ(by_other(from(tree, child, 16)), nothing);
  }
  EXPECT_EQ(by_other(from(tree, 3, 16)), (Went{.partial_sums = 1}));
  expect_result(16);
}

TEST_F(FlarePartialSums, GoWhenTheirSlotIsNeededForAnotherBlock) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  EXPECT_EQ(by_other(from(tree, 1, 16)), (Went{.partial_sums = 1}));
  EXPECT_EQ(owner->harness.figure("blocks_gathering"), 1u);
  EXPECT_EQ(wait(1ms), (Went{.partial_sums = 1}));
}

TEST_F(FlarePartialSums, HaveOneRun) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  EXPECT_EQ(by_other(of_run(from(tree, 1, next_block), 2)), (Went{.partial_sums = 1}));
  EXPECT_EQ(by_other(of_run(from(tree, 0, next_block), 2)), nothing);
  EXPECT_EQ(by_other(of_run(from(tree, 2, next_block), 2)), (Went{.partial_sums = 1}));
  by_owner(of_run(from(tree, 3, next_block), 2));
  expect_result(next_block);
}

TEST_F(FlarePartialSums, AreNotLetGoOfWhenTheirCoreHearsOfANewRun) {
  start(root_of(4));
  teach();
  by_other(of_run(from(tree, 0, next_block), 2));
  by_other(of_run(from(tree, 1, next_block), 2));
  // This packet is of a block that the other core owns.
  other->harness.process(test::make_flare(pool, of_run(from(tree, 0, 1), 2), Ints{1}), now);
  EXPECT_EQ(by_other(of_run(from(tree, 2, next_block), 2)), (Went{.partial_sums = 1}));
  by_owner(of_run(from(tree, 3, next_block), 2));
  expect_result(next_block);
  other->engine.reconfigure({});
}

TEST_F(FlarePartialSums, WhatComesTwiceIsForTheOwner) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  by_other(from(tree, 1, next_block));
  EXPECT_EQ(by_other(from(tree, 1, next_block)), (Went{.passed_on = 1}));
  EXPECT_EQ(by_other(from(tree, 2, next_block)), (Went{.partial_sums = 1}));
  EXPECT_EQ(owner->harness.losses(drop::duplicate), 1u);
  by_owner(from(tree, 3, next_block));
  EXPECT_TRUE(results.empty()) << "0 and 2 have not come";
  by_owner(again(from(tree, 0, next_block)));
  results.clear();  // the missing child is asked
  by_owner(again(from(tree, 2, next_block)));
  expect_result(next_block);
}

TEST_F(FlarePartialSums, OfWhatIsSummedAreLost) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  for (PortIndex child = 0; child < 4; ++child) {
    by_owner(from(tree, child, next_block));
  }
  expect_result(next_block);
  EXPECT_EQ(wait(1ms), (Went{.partial_sums = 1}));
  EXPECT_TRUE(results.empty());
  EXPECT_EQ(owner->harness.losses(drop::duplicate), 1u);
}

TEST_F(FlarePartialSums, OfWhatIsPastAreLost) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  for (const std::uint64_t block : {4, 12}) {  // a window behind that, all have next_block
    for (PortIndex child = 0; child < 4; ++child) {
      by_owner(from(tree, child, block));
    }
    expect_result(block);
  }
  wait(1ms);
  EXPECT_EQ(owner->harness.losses(drop::stale), 1u);
}

TEST_F(FlarePartialSums, ThatAreLostOnTheWayComeAgain) {
  start(root_of(4));
  teach();
  for (PortIndex child = 0; child < 3; ++child) {
    other->harness.gather(test::make_flare(pool, from(tree, child, next_block), Ints{1}), now);
  }
  EXPECT_EQ(other->harness.partial_sums().size(), 1u);
  by_owner(from(tree, 3, next_block));
  for (PortIndex child = 0; child < 3; ++child) {
    results.clear();
    by_owner(again(from(tree, child, next_block)));
  }
  expect_result(next_block);
}

TEST_F(FlarePartialSums, AreOfPacketsThatBelongTogether) {
  start(root_of(4));
  teach();
  by_owner(from(tree, 3, next_block));
  by_other(from(tree, 0, next_block));
  const auto passed = Went{.passed_on = 1};
  EXPECT_EQ(by_other(from(tree, 1, next_block), Ints{1, 2}), passed) << "of another length";
  auto many = from(tree, 1, next_block);
  many.contributions = 4;
  EXPECT_EQ(by_other(many), passed) << "of too many ranks";
  auto stranger = from(tree, 1, next_block);
  stranger.workers = 5;
  EXPECT_EQ(by_other(stranger), passed) << "of another job";
  auto from_nowhere = from(tree, 1, next_block);
  from_nowhere.ingress = 6;
  EXPECT_EQ(by_other(from_nowhere), passed);
  auto damaged = test::make_flare(pool, from(tree, 1, next_block), Ints{1});
  damaged->data()[damaged->length - 1] ^= std::byte{1};
  other->harness.gather(std::move(damaged), now);
  EXPECT_EQ(hand_over(), passed);
  EXPECT_EQ(owner->harness.drops(drop::crc), 1u) << "as it came";
  EXPECT_EQ(owner->harness.drops(drop::mismatch), 3u);
  EXPECT_EQ(owner->harness.drops(drop::wrong_port), 1u);
  EXPECT_EQ(ports_of(results, FlareKind::refusal), Ports{1}) << "who differs is told";
  results.clear();
  by_other(from(tree, 1, next_block));
  EXPECT_EQ(by_other(from(tree, 2, next_block)), (Went{.partial_sums = 1}));
  expect_result(next_block);
}

// The window tells who owns a block: with another one it may be of a slot of the core's own.
TEST_F(FlarePartialSums, TouchNoneOfTheCoresOwnBlocks) {
  start(root_of(4));
  for (PortIndex child = 0; child < 3; ++child) {
    const auto own = from(tree, child, next_block);
    other->harness.process(test::make_flare(pool, own, Ints{1}), now);
  }
  auto narrow = from(tree, 1, 16);
  narrow.window = 1;
  EXPECT_EQ(by_other(narrow), (Went{.passed_on = 1}));
  EXPECT_EQ(other->harness.figure("blocks_gathering"), 1u);
  other->engine.reconfigure({});
}

TEST_F(FlarePartialSums, AreNotMadeWhereTheOrderIsFixed) {
  start(reproducible(root_of(4)));
  for (const std::uint64_t block : {0u, 8u}) {
    for (PortIndex child = 0; child < 4; ++child) {
      EXPECT_EQ(by_other(from(tree, child, block)), (Went{.passed_on = 1}));
    }
    expect_result(block);
  }
}

TEST_F(FlarePartialSums, AreNotMadeOfFloatsThatTakeMoreRoomWhileTheyAreAdded) {
  start(root_of(4));
  for (PortIndex child = 0; child < 8; ++child) {
    auto spec = from(tree, child % 4, child < 4 ? 0 : next_block);
    spec.type = wire::ElementType::bf16;
    const std::vector<std::uint16_t> one = {0x3f80};
    EXPECT_EQ(by_other(spec, one), (Went{.passed_on = 1}));
  }
  EXPECT_EQ(results.size(), 8u);
  results.clear();
}

// Eight slots leave room for 24, one for each other core.
TEST_F(FlarePartialSums, AreNoMoreThanTheOwnersLeaveRoomFor) {
  start(root_of(4), 25);
  ASSERT_EQ(wire::flare_slots(tree.window), 8u);
  teach(0);
  teach(1);
  EXPECT_EQ(by_other(from(tree, 0, 8)), nothing);
  EXPECT_EQ(by_other(from(tree, 0, 9)), (Went{.passed_on = 1}));
  EXPECT_EQ(by_other(from(tree, 1, 9)), (Went{.passed_on = 1}));
  EXPECT_EQ(by_other(from(tree, 1, 8)), nothing);
  EXPECT_EQ(by_other(from(tree, 2, 8)), (Went{.partial_sums = 1}));
  by_owner(from(tree, 3, 8));
  expect_result(8);
  EXPECT_EQ(by_other(from(tree, 0, 17)), nothing) << "there is room again";
  EXPECT_EQ(wait(1ms), (Went{.partial_sums = 1}));
}

TEST_F(FlarePartialSums, OfATreeThatWasTakenAwayAreLost) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  owner->engine.reconfigure({});
  wait(1ms);
  EXPECT_EQ(owner->harness.losses(drop::no_tree), 1u);
}

TEST_F(FlarePartialSums, OfATreeThatHasBecomeAnotherAreLost) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  auto narrow = tree;
  narrow.window = 2;
  settings.trees = {narrow};
  owner->engine.reconfigure(settings);
  wait(1ms);
  EXPECT_EQ(owner->harness.losses(drop::mismatch), 1u);
}

// The children of a partial sum are those of the tree by which it was made.
TEST_F(FlarePartialSums, OfATreeWithItsChildrenInAnotherOrderAreLost) {
  start(root_of(4));
  teach();
  by_other(from(tree, 0, next_block));
  auto turned = tree;
  std::swap(turned.children[0], turned.children[1]);
  settings.trees = {turned};
  owner->engine.reconfigure(settings);
  wait(1ms);
  EXPECT_EQ(owner->harness.losses(drop::mismatch), 1u);
}

TEST(Partials, KnowTheOldest) {
  Partials partials(4, 2);
  EXPECT_FALSE(partials.oldest());
  for (const std::uint32_t slot : {5u, 2u, 7u}) {
    partials.begin(slot);
  }
  EXPECT_EQ(partials.oldest(), 5u);
  partials.end(2);
  partials.end(5);
  EXPECT_EQ(partials.oldest(), 7u);
  partials.begin(5);
  partials.end(7);
  EXPECT_EQ(partials.oldest(), 5u);
}

}  // namespace
}  // namespace tributary::flare
