// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/block_store.h"

#include "fixture.h"

namespace tributary::canary {
namespace {

class BlockStoreTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t job = 7;

  // Returns a block that gathers in a wide accumulator.
  Descriptor& hold(std::uint32_t id) {
    auto& block = *blocks_.table.allocate((std::uint64_t{job} << 32) | id, Time{}, Time{1ms});
    block.share = blocks_.tenants.share_of(job, 2);
    block.job = blocks_.jobs.find_or_add(job, 1);
    block.bytes = 100;
    block.wide = blocks_.wide.take();
    blocks_.jobs.add_descriptor(block.job, 1ms);
    blocks_.tenants.take(block.share);
    blocks_.occupancy.add(block.bytes);
    return block;
  }

  BlockStore blocks_{config_with(64), 4, 1};
};

TEST_F(BlockStoreTest, ReleaseGivesBackAllThatABlockHas) {
  auto& block = hold(1);
  const auto wide = block.wide;
  const auto share = block.share;
  blocks_.release(block);
  EXPECT_EQ(blocks_.table.in_use(), 0u);
  EXPECT_EQ(blocks_.table.first_expiry(), never);
  EXPECT_EQ(blocks_.jobs.status().at(0).descriptors, 0u);
  EXPECT_EQ(blocks_.tenants.held_by(share), 0u);
  EXPECT_EQ(blocks_.occupancy.accumulators(), 0u);
  EXPECT_EQ(blocks_.occupancy.bytes(), 0u);
  EXPECT_EQ(blocks_.wide.take(), wide);
}

TEST_F(BlockStoreTest, WhoseSumHasGoneHoldsNoAccumulatorAnyMore) {
  auto& block = hold(1);
  hold(2);
  blocks_.table.mark_sent(block);
  blocks_.occupancy.remove(block.bytes);
  blocks_.release(block);
  EXPECT_EQ(blocks_.occupancy.accumulators(), 1u);
  EXPECT_EQ(blocks_.occupancy.bytes(), 100u);
}

TEST_F(BlockStoreTest, OtherQuotasCountWhatIsHeld) {
  hold(1);
  hold(2);
  auto config = config_with(64);
  config.job_quota = 2;
  blocks_.reconfigure(config, 4, 1);
  const auto share = blocks_.tenants.share_of(job, 0);
  EXPECT_EQ(blocks_.tenants.held_by(share), 2u);
  EXPECT_EQ(blocks_.tenants.judge(share), Tenants::Verdict::job_met);
}

TEST_F(BlockStoreTest, WhatIsHeldMovesToTheAccountOfAJobThatIsListedNow) {
  auto& block = hold(1);
  auto config = config_with(64);
  config.jobs = {{job, {}, 4}};
  blocks_.reconfigure(config, 4, 1);
  const auto share = blocks_.tenants.share_of(job, 2);
  EXPECT_EQ(blocks_.tenants.held_by(share), 1u);
  blocks_.release(block);
  EXPECT_EQ(blocks_.tenants.held_by(share), 0u);
}

}  // namespace
}  // namespace tributary::canary
