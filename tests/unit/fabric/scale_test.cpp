// SPDX-License-Identifier: BSD-3-Clause
// Tests whole jobs of many ranks over three levels of switches, on cables that lose packets.
#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "protocols/canary/engine/children.h"
#include "protocols/netreduce/engine/config.h"
#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/scaled_job.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr ScaledJob ranks_256{
    .pods = 8, .leaves_per_pod = 4, .hosts_per_leaf = 8, .elements = 4096, .loss = 0.001};
constexpr ScaledJob ranks_64{
    .pods = 4, .leaves_per_pod = 4, .hosts_per_leaf = 4, .elements = 4096, .loss = 0.001};

void expect_exact(const ScaledEngine& engine, const ScaledJob& job) {
  const auto cost = cost_of(engine, job);
  EXPECT_EQ(cost.failure, "") << engine.name;
  EXPECT_GT(cost.repeats, 0u) << engine.name << ": nothing was lost";
}

TEST(Scale, AJobOf256RanksIsExactOverBadCablesByCanary) {
  expect_exact(scaled_canary, ranks_256);
}

TEST(Scale, AJobOf256RanksIsExactOverBadCablesByPanama) {
  expect_exact(scaled_panama, ranks_256);
}

TEST(Scale, AJobOf256RanksIsExactOverBadCablesByFlare) {
  expect_exact(scaled_flare, ranks_256);
}

// Each rank leads one block of a call, or two: in most calls switches meet some leaders for the
// first time. They have to guess how many contributions come, and nobody may wait for those that do
// not.
TEST(Scale, AJobOf256RanksAsksForNothingByCanaryWhereNothingIsLost) {
  auto job = ranks_256;
  job.elements = 16384;
  job.loss = 0;
  const auto cost = cost_of(scaled_canary, job);
  EXPECT_EQ(cost.failure, "");
  EXPECT_EQ(cost.repeats, 0u);
}

TEST(Scale, TheLargestRingIsExactOverBadCables) {
  static_assert(ranks_64.world() == netreduce::members_max);
  expect_exact(scaled_netreduce, ranks_64);
}

// A switch remembers 64 children of a block. What the others send goes to the leader as it is, and
// they have their results from it.
TEST(Scale, ABlockWithMoreChildrenThanASwitchRemembersIsExact) {
  constexpr std::uint32_t world = 80;
  constexpr std::uint32_t remembered = canary::ChildrenTable::children_max;
  constexpr std::size_t blocks = 160;
  FatTree shape;
  shape.leaves = 1;
  shape.hosts_per_leaf = world;
  shape.spines = 0;
  VirtualFabric fabric(make_fat_tree(shape));
  Workers workers(fabric, {.world_size = world});
  workers.begin(blocks * 64);
  fabric.run(10s);
  ASSERT_TRUE(workers.all_done());
  EXPECT_TRUE(workers.never_wrong());
  EXPECT_EQ(fabric.figure("children_overflows_total"), blocks * (world - 1 - remembered));
  std::uint64_t received = 0;
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    received += workers.machine(rank).statistics().contributions_received;
  }
  EXPECT_EQ(received, blocks * (world - remembered));
  expect_balanced(fabric);
}

}  // namespace
}  // namespace tributary::test
