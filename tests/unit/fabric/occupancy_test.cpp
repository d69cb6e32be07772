// SPDX-License-Identifier: BSD-3-Clause
// Compares the memory that blocks hold with the model of the paper (3.2.2).
#include "unit/fabric/occupancy.h"

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

TEST(Occupancy, StaysWithinThePapersModel) {
  for (const auto& each : occupancy_cases()) {
    SCOPED_TRACE(testing::Message() << each.levels << " levels, " << each.rate_bps << " bit/s, "
                                    << each.timeout.count() << " ns");
    const auto occupied = occupy(each);
    EXPECT_TRUE(occupied.exact);
    // The paper's root waits as long as every other switch; ours waits for a late worker, so it
    // holds blocks as long as the worker is late, at most for root_timeout.
    const auto limit =
        each.late > Duration{} ? modelled_bytes_with_a_patient_root(each) : modelled_bytes(each);
    EXPECT_LE(static_cast<double>(occupied.accumulator_bytes), limit);
    EXPECT_LE(static_cast<double>(occupied.descriptor_bytes), limit);
    EXPECT_GT(occupied.accumulator_bytes, 0u);
  }
}

// By Little's law four times the timeout holds four times the blocks; a large constant would not.
TEST(Occupancy, GrowsWithTheTimeout) {
  using namespace std::chrono_literals;
  const auto brief = occupy({2, 400'000'000, 1ms});
  const auto patient = occupy({2, 400'000'000, 4ms});
  const double ratio =
      static_cast<double>(patient.accumulator_bytes) / static_cast<double>(brief.accumulator_bytes);
  EXPECT_NEAR(ratio, 4, 0.5);
}

}  // namespace
}  // namespace tributary::test
