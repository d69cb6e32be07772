// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/aggregation_buffers.h"

#include "incoming.h"

namespace tributary::panama {
namespace {

class AggregationBuffersTest : public ::testing::Test {
 protected:
  Tree& add(std::uint16_t number) {
    auto& tree = trees_.add(std::make_unique<Tree>(root_of(2, number), self, 4));
    tree.grant.packets = 4;
    return tree;
  }
  Row& hold(Tree& tree, std::uint64_t position, std::uint8_t child) {
    auto& row = gathering_row(tree, position, {});
    row.arrived |= std::uint64_t{1} << child;
    buffers_.hold(tree, row, child, pool_.allocate());
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
    buffers_.keep(tree, row, body);
    return row;
  }
  std::uint32_t held_at(PortIndex port) const { return buffers_.ports()[port].held; }

  HeapPacketPool pool_{64, 256};
  TreeTable trees_;
  AggregationBuffers buffers_{pool_, 8, 4};
};

TEST_F(AggregationBuffersTest, WhatWaitsIsCountedByPortAndByTree) {
  auto& a = add(0);
  auto& b = add(1);
  auto& row = hold(a, 0, 1);
  hold(b, 0, 1);
  EXPECT_EQ(held_at(0), 0u);
  EXPECT_EQ(held_at(1), 2u);
  EXPECT_EQ(a.held[1], 1u);
  buffers_.release_waiting(a, row);
  EXPECT_EQ(held_at(1), 1u);
  EXPECT_EQ(buffers_.ports()[1].high_water, 2u);
  EXPECT_EQ(a.held[1], 0u);
  EXPECT_FALSE(row.holds);
  EXPECT_EQ(pool_.outstanding(), 1u);
  buffers_.release_waiting(a, row);
  EXPECT_EQ(held_at(1), 1u) << "nothing waits in that row any more";
}

TEST_F(AggregationBuffersTest, EvictionFreesAllRowsThatGather) {
  auto& tree = add(0);
  hold(tree, 0, 0);
  auto& row = hold(tree, 3, 1);
  buffers_.evict_waiting(tree);
  EXPECT_EQ(row.state, Row::State::free);
  EXPECT_EQ(tree.gathering, 0u);
  EXPECT_EQ(held_at(0) + held_at(1), 0u);
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(AggregationBuffersTest, WhatAnEpochLeavesIsTheNextOnesAtOnceAndSweptInTime) {
  auto& tree = add(0);
  tree.epochs.begin({1, 0}, 0);
  auto& row = hold(tree, 0, 0);
  buffers_.abandon_rows(tree);
  tree.epochs.begin({1, 1}, 1);
  EXPECT_EQ(held_at(0), 0u);
  EXPECT_EQ(tree.held[0], 0u);
  EXPECT_EQ(pool_.outstanding(), 1u);
  buffers_.sweep(tree);
  EXPECT_EQ(row.state, Row::State::free);
  EXPECT_EQ(held_at(0), 0u) << "not given back twice";
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(AggregationBuffersTest, EarlyPacketsGoWithTheirEpoch) {
  auto& tree = add(0);
  auto& places = tree.early[1].packets;
  buffers_.hold_at(places[0], pool_.allocate());
  buffers_.hold_at(places[0], pool_.allocate());
  EXPECT_EQ(pool_.outstanding(), 1u) << "one takes the place of the other";
  buffers_.hold_at(places[1], pool_.allocate());
  EXPECT_NE(buffers_.take_from(places[1]), nullptr);
  buffers_.drop_early(tree, 1);
  EXPECT_EQ(tree.counters.left, 1u);
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(AggregationBuffersTest, KeptElementsGoWithTheirLastHolder) {
  auto& tree = add(0);
  auto& row = keep(tree, 0);
  EXPECT_EQ(buffers_.kept(), 1u);
  EXPECT_EQ(tree.kept, 1u);
  buffers_.clear(tree, row);
  buffers_.clear(tree, row);
  EXPECT_EQ(buffers_.kept(), 0u);
  EXPECT_EQ(buffers_.kept_high_water(), 1u);
  EXPECT_EQ(tree.kept, 0u);
  EXPECT_EQ(pool_.outstanding(), 0u);
}

TEST_F(AggregationBuffersTest, WhoRestsMakesRoom) {
  auto& rests = add(0);
  auto& works = add(1);
  works.grant.active = true;
  for (std::uint64_t position = 0; position < 2; ++position) {
    keep(rests, position);
    keep(works, position);
  }
  buffers_.make_room(trees_);
  EXPECT_EQ(buffers_.kept(), 4u) << "there is room for four";
  auto& place = rests.early[0].packets[0];
  buffers_.hold_at(place, pool_.allocate());
  buffers_.make_room(trees_);
  EXPECT_EQ(rests.kept, 0u);
  EXPECT_EQ(works.kept, 2u);
  EXPECT_EQ(buffers_.kept(), 2u);
}

TEST_F(AggregationBuffersTest, NothingIsCountedOfATreeThatGoes) {
  auto& tree = add(0);
  hold(tree, 0, 0);
  keep(tree, 1);
  buffers_.hold_at(tree.early[0].packets[0], pool_.allocate());
  buffers_.remove(tree);
  EXPECT_EQ(held_at(0), 0u);
  EXPECT_EQ(buffers_.kept(), 0u);
  trees_.remove_if([](const Tree&) { return true; });
  EXPECT_EQ(pool_.outstanding(), 0u);
}

}  // namespace
}  // namespace tributary::panama
