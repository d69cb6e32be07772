// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/holdings.h"

#include "incoming.h"

namespace tributary::panama {
namespace {

class HoldingsTest : public ::testing::Test {
 protected:
  Tree& add(std::uint16_t number) {
    auto& tree = trees_.add(std::make_unique<Tree>(root_of(2, number), self, 4));
    tree.grant.packets = 4;
    return tree;
  }
  Row& hold(Tree& tree, std::uint64_t position, std::uint8_t child) {
    auto& row = gathering_row(tree, position, {});
    row.arrived |= std::uint64_t{1} << child;
    holdings_.hold(tree, row, child, pool_.allocate());
    ++tree.gathering;
    return row;
  }
  Row& keep(Tree& tree, std::uint64_t position) {
    auto& row = tree.row(position);
    row.state = Row::State::done;
    row.position = position;
    tree.top = position + 1;
    auto& body = *pool_.allocate().release();
    pool_.share(body, 1);
    holdings_.keep(tree, row, body);
    return row;
  }
  std::uint32_t held_at(PortIndex port) const { return holdings_.ports()[port].held; }

  HeapPacketPool pool_{64, 256};
  TreeTable trees_;
  Holdings holdings_{pool_, 8, 4};
};

TEST_F(HoldingsTest, WhatWaitsIsCountedByPortAndByTree) {
  auto& a = add(0);
  auto& b = add(1);
  auto& row = hold(a, 0, 1);
  hold(b, 0, 1);
  EXPECT_EQ(held_at(0), 0u);
  EXPECT_EQ(held_at(1), 2u);
  EXPECT_EQ(a.held[1], 1u);
  holdings_.release_waiting(a, row);
  EXPECT_EQ(held_at(1), 1u);
  EXPECT_EQ(holdings_.ports()[1].high_water, 2u);
  EXPECT_EQ(a.held[1], 0u);
  EXPECT_FALSE(row.holds);
  EXPECT_EQ(pool_.outstanding(), 1u);
  holdings_.release_waiting(a, row);
  EXPECT_EQ(held_at(1), 1u) << "nothing waits in that row any more";
}

TEST_F(HoldingsTest, EvictionFreesAllRowsThatGather) {
  auto& tree = add(0);
  hold(tree, 0, 0);
  auto& row = hold(tree, 3, 1);
  holdings_.evict_waiting(tree);
  EXPECT_EQ(row.state, Row::State::free);
  EXPECT_EQ(tree.gathering, 0u);
  EXPECT_EQ(held_at(0) + held_at(1), 0u);
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(HoldingsTest, WhatAnEpochLeavesIsTheNextOnesAtOnceAndSweptInTime) {
  auto& tree = add(0);
  tree.epochs.begin({1, 0}, 0);
  auto& row = hold(tree, 0, 0);
  holdings_.abandon_rows(tree);
  tree.epochs.begin({1, 1}, 1);
  EXPECT_EQ(held_at(0), 0u);
  EXPECT_EQ(tree.held[0], 0u);
  EXPECT_EQ(pool_.outstanding(), 1u);
  holdings_.sweep(tree);
  EXPECT_EQ(row.state, Row::State::free);
  EXPECT_EQ(held_at(0), 0u) << "not given back twice";
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(HoldingsTest, EarlyPacketsGoWithTheirEpoch) {
  auto& tree = add(0);
  auto& places = tree.early[1].packets;
  holdings_.hold_at(places[0], pool_.allocate());
  holdings_.hold_at(places[0], pool_.allocate());
  EXPECT_EQ(pool_.outstanding(), 1u) << "one takes the place of the other";
  holdings_.hold_at(places[1], pool_.allocate());
  EXPECT_NE(holdings_.take_from(places[1]), nullptr);
  holdings_.drop_early(tree, 1);
  EXPECT_EQ(tree.counters.left, 1u);
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(HoldingsTest, KeptElementsGoWithTheirLastHolder) {
  auto& tree = add(0);
  auto& row = keep(tree, 0);
  EXPECT_EQ(holdings_.kept(), 1u);
  EXPECT_EQ(tree.kept, 1u);
  holdings_.clear(tree, row);
  holdings_.clear(tree, row);
  EXPECT_EQ(holdings_.kept(), 0u);
  EXPECT_EQ(holdings_.kept_high_water(), 1u);
  EXPECT_EQ(tree.kept, 0u);
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(HoldingsTest, WhoRestsMakesRoom) {
  auto& rests = add(0);
  auto& works = add(1);
  works.grant.active = true;
  for (std::uint64_t position = 0; position < 2; ++position) {
    keep(rests, position);
    keep(works, position);
  }
  holdings_.make_room(trees_);
  EXPECT_EQ(holdings_.kept(), 4u) << "there is room for four";
  auto& place = rests.early[0].packets[0];
  holdings_.hold_at(place, pool_.allocate());
  holdings_.make_room(trees_);
  EXPECT_EQ(rests.kept, 0u);
  EXPECT_EQ(works.kept, 2u);
  EXPECT_EQ(holdings_.kept(), 2u);
}

TEST_F(HoldingsTest, NothingIsCountedOfATreeThatGoes) {
  auto& tree = add(0);
  hold(tree, 0, 0);
  keep(tree, 1);
  holdings_.hold_at(tree.early[0].packets[0], pool_.allocate());
  holdings_.remove(tree);
  EXPECT_EQ(held_at(0), 0u);
  EXPECT_EQ(holdings_.kept(), 0u);
  trees_.remove_if([](const Tree&) { return true; });
  EXPECT_EQ(pool_.outstanding(), 0u);
}

}  // namespace
}  // namespace tributary::panama
