// SPDX-License-Identifier: BSD-3-Clause
#include "engine/status.h"

#include <chrono>

#include <gtest/gtest.h>

namespace tributary::engine {
namespace {

TEST(JobStatus, of_several_cores_has_the_high_water_mark_of_one) {
  JobStatus row;
  for (const std::uint64_t value : {7u, 5u}) {
    JobStatus job;
    job.job = 9;
    job.contributions = value;
    job.results = value;
    job.bypassed = value;
    job.descriptors = value;
    job.descriptors_high_water = value;
    job.timeout = std::chrono::microseconds(value);
    row.merge(job);
  }
  EXPECT_EQ(row.job, 9u);
  EXPECT_EQ(row.contributions, 12u);
  EXPECT_EQ(row.results, 12u);
  EXPECT_EQ(row.bypassed, 12u);
  EXPECT_EQ(row.descriptors, 12u);
  EXPECT_EQ(row.descriptors_high_water, 7u);
  EXPECT_EQ(row.timeout, std::chrono::microseconds(7));
}

}  // namespace
}  // namespace tributary::engine
