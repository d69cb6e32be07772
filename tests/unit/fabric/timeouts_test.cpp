// SPDX-License-Identifier: BSD-3-Clause
// Tests the cost of waiting: for small messages, and for several timeouts (3.1.1, 5.2.5).
#include <algorithm>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "support/fat_tree.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/workers.h"
#include "unit/fabric/workload.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr Duration patience = 20ms;
constexpr Duration few_cables = 20 * 5us;  // four up, four down, and the leader's own

enum class Small : std::uint8_t { barrier, eight_bytes };

class SmallMessages : public ::testing::TestWithParam<Small> {
 protected:
  // Returns the time of each of a job's first collectives.
  std::vector<Duration> take(unsigned spines, std::size_t collectives) {
    FatTree shape;
    shape.spines = spines;
    shape.canary.timeout = patience;
    shape.canary.hash_seed = 42;
    VirtualFabric fabric(make_fat_tree(shape));
    Workers workers(fabric, {});
    std::vector<Duration> durations;
    for (std::size_t i = 0; i < collectives; ++i) {
      const Time start = fabric.now();
      if (GetParam() == Small::barrier) {
        workers.begin_barrier();
      } else {
        workers.begin(2);
      }
      fabric.run(20s);
      EXPECT_TRUE(workers.all_done());
      EXPECT_TRUE(workers.never_wrong());
      durations.push_back(fabric.now() - start);
    }
    timeouts_ = fabric.figure("partial_sums_timeout_total");
    return durations;
  }

  std::uint64_t timeouts_ = 0;
};

// The first collective waits at a leaf, and then at the spine.
TEST_P(SmallMessages, NoTimeoutIsWaitedForFromTheSecondOn) {
  const auto durations = take(1, 50);
  EXPECT_GT(durations[0], 2 * patience);
  EXPECT_LT(durations[0], 2 * patience + 2 * few_cables);
  EXPECT_LT(*std::max_element(durations.begin() + 1, durations.end()), few_cables);
  EXPECT_EQ(timeouts_, 4u) << "three leaves and the spine; the leader's leaf knows how many come";
}

// A spine does not know that its first block of a job is not the job's first.
TEST_P(SmallMessages, EverySpineWaitsOnce) {
  auto durations = take(2, 50);
  EXPECT_EQ(timeouts_, 5u);
  EXPECT_EQ(std::count_if(durations.begin(), durations.end(),
                          [](Duration duration) { return duration > few_cables; }),
            2);
}

INSTANTIATE_TEST_SUITE_P(Timeouts, SmallMessages,
                         ::testing::Values(Small::barrier, Small::eight_bytes),
                         [](const auto& small) {
                           return small.param == Small::barrier ? "Barrier" : "EightBytes";
                         });

// The median of several runs where something is lost: what that costs differs from one to the next.
double seconds_of(const Workload& workload, std::optional<Duration> timeout) {
  std::vector<double> runs(workload.loss > 0 ? 5 : 1);
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const auto duration = duration_of(workload, timeout, run + 1);
    EXPECT_TRUE(duration.has_value()) << workload.name;
    runs[run] = duration ? std::chrono::duration<double>(*duration).count() : 0;
  }
  const auto median = runs.begin() + static_cast<std::ptrdiff_t>(runs.size() / 2);
  std::nth_element(runs.begin(), median, runs.end());
  return *median;
}

// Compares the worst time with that of the best fixed timeout.
TEST(Timeouts, AdaptiveOnesServeAllWorkloadsAndNoFixedOneDoes) {
  std::vector<double> worst_of_fixed(fixed_timeouts.size(), 0.0);
  for (const auto& workload : workloads(true)) {
    std::vector<double> fixed;
    for (const auto timeout : fixed_timeouts) {
      fixed.push_back(seconds_of(workload, timeout));
    }
    const double best = *std::min_element(fixed.begin(), fixed.end());
    for (std::size_t i = 0; i < fixed.size(); ++i) {
      worst_of_fixed[i] = std::max(worst_of_fixed[i], fixed[i] / best);
    }
    // On slow links the first window, of which nothing is known, is a good part of the whole.
    const bool slow_start = workload.rate_bps < 100'000'000 && workload.jitter == Duration{};
    // Where packets are lost no one timeout is best, and the adaptive one is not always the best.
    const double allowed = slow_start || workload.loss > 0 ? 1.15 : 1.05;
    EXPECT_LE(seconds_of(workload, std::nullopt), allowed * best) << workload.name;
  }
  EXPECT_GT(*std::min_element(worst_of_fixed.begin(), worst_of_fixed.end()), 1.1);
}

// Without learned contributions, as in the paper, a switch does not know when all have come;
// workers are in step here.
TEST(Timeouts, AdaptiveOnesServeWorkersInStepWithoutLearnedContributions) {
  for (const auto& workload : workloads(false)) {
    const bool slow_start = workload.rate_bps < 100'000'000 && workload.jitter == Duration{};
    if (workload.late > Duration{} || workload.loss > 0 || slow_start) {
      continue;
    }
    double best = seconds_of(workload, fixed_timeouts.front());
    for (const auto timeout : fixed_timeouts) {
      best = std::min(best, seconds_of(workload, timeout));
    }
    EXPECT_LE(seconds_of(workload, std::nullopt), 1.05 * best) << workload.name;
  }
}

}  // namespace
}  // namespace tributary::test
