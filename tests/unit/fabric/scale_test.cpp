// SPDX-License-Identifier: BSD-3-Clause
// Tests whole jobs of many ranks over three levels of switches, on cables that lose packets.
#include <gtest/gtest.h>

#include "protocols/netreduce/engine/config.h"
#include "unit/fabric/scaled_job.h"

namespace tributary::test {
namespace {

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

TEST(Scale, TheLargestRingIsExactOverBadCables) {
  static_assert(ranks_64.world() == netreduce::members_max);
  expect_exact(scaled_netreduce, ranks_64);
}

}  // namespace
}  // namespace tributary::test
