// SPDX-License-Identifier: BSD-3-Clause
// Prints the times of workloads with fixed timeouts and with the adaptive one, as a table for
// docs/benchmarks.md.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "unit/fabric/workload.h"

namespace {

using tributary::Duration;
using tributary::test::Workload;

constexpr std::uint64_t seeds = 5;

// The median of the seeds, in seconds.
double median(const Workload& workload, std::optional<Duration> timeout) {
  std::vector<double> seconds;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto duration = tributary::test::duration_of(workload, timeout, seed);
    if (!duration) {
      std::fprintf(stderr, "wrong or without an end: %s\n", workload.name.c_str());
      std::exit(1);
    }
    seconds.push_back(std::chrono::duration<double>(*duration).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void print_row(const Workload& workload) {
  std::vector<double> fixed;
  for (const auto timeout : tributary::test::fixed_timeouts) {
    fixed.push_back(median(workload, timeout));
  }
  const double adaptive = median(workload, std::nullopt);
  const double best = *std::min_element(fixed.begin(), fixed.end());
  std::printf("| %s | %.4g ms |", workload.name.c_str(), best * 1e3);
  for (const double seconds : fixed) {
    std::printf(" %.2f |", seconds / best);
  }
  std::printf(" %.2f |\n", adaptive / best);
  std::fflush(stdout);
}

void print_table(const char* title, bool learn_contributions) {
  std::printf("%s\n\n", title);
  std::puts("| workload | best fixed | 50 us | 200 us | 1 ms | 5 ms | 20 ms | adaptive |");
  std::puts("|---|---|---|---|---|---|---|---|");
  for (const auto& workload : tributary::test::workloads(learn_contributions)) {
    print_row(workload);
  }
  std::puts("");
}

}  // namespace

int main() {
  print_table("As by default, `learn_contributions = true`:", true);
  print_table("Timeouts alone, `learn_contributions = false`:", false);
}
