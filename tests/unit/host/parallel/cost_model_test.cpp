// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/cost_model.h"

#include <cmath>

#include <gtest/gtest.h>

namespace tributary::test {
namespace {

// The paper's testbed: 4 machines of 8 GPUs, NVLink, 100 Gbit/s Ethernet.
constexpr Cluster testbed{.ranks = 32,
                          .ranks_per_machine = 8,
                          .hop_latency_s = 1e-6,
                          .intra_bandwidth_bytes_per_s = 150e9,
                          .inter_bandwidth_bytes_per_s = 12.5e9};
constexpr double vector_bytes = 250e6;

TEST(CostModel, IsWhatTheEquationsSayWhenTheyAreFilledIn) {
  // 2 x 31 us + 2 x 31/32 x 20 ms
  EXPECT_NEAR(flat_ring_seconds(testbed, vector_bytes), 62e-6 + 38.75e-3, 1e-9);
  // 15 us + (14 x 12.5 + 8 x 150) / (8 x 150 x 12.5) s/GB x 0.25 GB
  EXPECT_NEAR(parallel_seconds(testbed, vector_bytes), 15e-6 + 1375.0 / 15000.0 * 0.25, 1e-9);
  // (64 + 72 - 24 + 64) / 8 us + (4 x 7 x 32 x 12.5 + 2 x 24 x 8 x 150) / (8 x 32 x 150 x 12.5)
  EXPECT_NEAR(tencent_seconds(testbed, vector_bytes), 22e-6 + 68800.0 / 480000.0 * 0.25, 1e-9);
}

TEST(CostModel, HasTheDifferencesOfEquationsFourAndFive) {
  for (const std::uint32_t machines : {2, 4, 16, 128}) {
    for (const std::uint32_t n : {1, 2, 4, 8}) {
      Cluster cluster = testbed;
      cluster.ranks = machines * n;
      cluster.ranks_per_machine = n;
      const double p = cluster.ranks;
      const double intra = cluster.intra_bandwidth_bytes_per_s;
      const double inter = cluster.inter_bandwidth_bytes_per_s;
      const double ours = parallel_seconds(cluster, vector_bytes);
      const double four = (2 * p / n + 3 * std::log2(n) - n - 2) * cluster.hop_latency_s +
                          ((p - 2 * n) * n * intra + 2 * (n - 1.0) * p * inter) /
                              (n * p * intra * inter) * vector_bytes;
      const double five = (2 * p - 2 * n - 1) * cluster.hop_latency_s +
                          ((p - 2) * n * intra - 2 * (n - 1.0) * p * inter) /
                              (n * p * intra * inter) * vector_bytes;
      EXPECT_NEAR(tencent_seconds(cluster, vector_bytes) - ours, four, 1e-9);
      EXPECT_NEAR(flat_ring_seconds(cluster, vector_bytes) - ours, five, 1e-9);
    }
  }
}

TEST(CostModel, WithOneRankPerMachineIsTheSwitchAlone) {
  Cluster cluster = testbed;
  cluster.ranks = 4;
  cluster.ranks_per_machine = 1;
  EXPECT_NEAR(parallel_seconds(cluster, vector_bytes), 1e-6 + 20e-3, 1e-12);
}

}  // namespace
}  // namespace tributary::test
