// SPDX-License-Identifier: BSD-3-Clause
#include "property/shape.h"

#include <cstdint>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

constexpr std::uint64_t seeds = 6000;

TEST(RandomShape, EveryEngineMeetsEveryKindOfLink) {
  std::set<std::string> drawn;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto shape = random_shape(seed);
    const auto link = std::string(shape.ipv6 != 0 ? "IPv6" : "IPv4") +
                      (shape.tagged != 0 ? " tags" : "") + (shape.trunks != 0 ? " trunks" : "");
    for (std::uint32_t job = 0; job < shape.jobs; ++job) {
      drawn.insert(link + (is_panama(shape, job)      ? " PANAMA"
                           : is_netreduce(shape, job) ? " NetReduce"
                           : is_flare(shape, job)     ? " Flare"
                                                      : " Canary"));
    }
  }
  EXPECT_EQ(drawn.size(), 2u * 2u * 2u * 4u);
}

TEST(RandomShape, LinksFitTogether) {
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto shape = random_shape(seed);
    EXPECT_TRUE(shape.vlan == 0 || shape.bridged != 0) << seed;
    EXPECT_TRUE(shape.vlan != 0 || shape.tagged + shape.trunks == 0) << seed;
    EXPECT_TRUE(shape.trunks == 0 || (shape.spines == 1 && shape.roots == 1)) << seed << ": a loop";
  }
}

TEST(RandomShape, SomeJobsHaveAThousandRanks) {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto shape = random_shape(seed);
    const bool is_large = shape.world >= 900;
    found += is_large ? 1 : 0;
    EXPECT_TRUE(!is_large || shape.world <= shape.pods * shape.leaves * shape.hosts) << seed;
  }
  EXPECT_GT(found, 0u);
}

TEST(RandomShape, ItsTextIsTheShape) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    const auto shape = random_shape(seed);
    EXPECT_EQ(shape_of(to_text(shape)), shape);
  }
}

}  // namespace
}  // namespace tributary::test
