// SPDX-License-Identifier: BSD-3-Clause
// Prints what an allreduce takes with 16 to 1,024 ranks over three levels of switches, as a table
// for docs/benchmarks.md. Arguments name the engines that are wanted; none: all.
#include <algorithm>
#include <cstdio>
#include <span>
#include <string_view>

#include "unit/fabric/scaled_job.h"

namespace {

using tributary::test::ScaledCost;
using tributary::test::ScaledEngine;
using tributary::test::ScaledJob;

// Where packets are lost, vectors are shorter: there Canary sends many packets again.
struct Cables {
  double loss;
  std::size_t elements;
};
constexpr Cables all_cables[] = {{0, 16384}, {0.001, 4096}};
constexpr ScaledJob jobs[] = {
    {.pods = 2, .leaves_per_pod = 2, .hosts_per_leaf = 4},
    {.pods = 4, .leaves_per_pod = 4, .hosts_per_leaf = 4},
    {.pods = 8, .leaves_per_pod = 4, .hosts_per_leaf = 8},
    {.pods = 16, .leaves_per_pod = 8, .hosts_per_leaf = 8},
};

double per(double total, std::uint64_t count) {
  return total / static_cast<double>(count);
}

void print_cost(const ScaledEngine& engine, const ScaledJob& job, const ScaledCost& cost) {
  const auto world = job.world();
  std::printf("| %s | %u | %.2f ms | %.0f | %.1f | %.2f us | %.2f us | %.1f KiB | %llu | %llu |\n",
              engine.name.data(), world,
              std::chrono::duration<double, std::milli>(cost.time).count(),
              per(static_cast<double>(cost.packets_of_hosts), world),
              per(static_cast<double>(cost.repeats), world),
              per(cost.seconds_of_hosts * 1e6, cost.packets_of_hosts),
              per(cost.seconds_of_switches * 1e6, cost.packets_of_switches),
              per(static_cast<double>(cost.bytes_of_hosts) / 1024, world),
              static_cast<unsigned long long>(cost.blocks),
              static_cast<unsigned long long>(cost.packets_held));
  std::fflush(stdout);
}

bool print_rows(const ScaledEngine& engine, const Cables& with) {
  for (auto job : jobs) {
    job.loss = with.loss;
    job.elements = with.elements;
    if (job.world() > engine.ranks_max) {
      break;
    }
    const auto cost = cost_of(engine, job);
    if (!cost.failure.empty()) {
      std::fprintf(stderr, "%s, %u ranks: %s\n", engine.name.data(), job.world(),
                   cost.failure.c_str());
      return false;
    }
    print_cost(engine, job, cost);
  }
  return true;
}

bool print_table(const Cables& with, std::span<char*> wanted) {
  std::printf("%zu elements of i32, loss of %g %% on each link:\n\n", with.elements,
              with.loss * 100);
  std::puts(
      "| engine | ranks | virtual time | packets of a host | of these, repeats | host: CPU per "
      "packet | switch: CPU per packet | host: memory | switch: blocks | switch: packets |");
  std::puts("|---|---|---|---|---|---|---|---|---|---|");
  bool exact = true;
  for (const auto* engine : {&tributary::test::scaled_canary, &tributary::test::scaled_panama,
                             &tributary::test::scaled_netreduce, &tributary::test::scaled_flare}) {
    const bool is_wanted =
        wanted.empty() || std::any_of(wanted.begin(), wanted.end(),
                                      [engine](const char* name) { return engine->name == name; });
    exact = (!is_wanted || print_rows(*engine, with)) && exact;
  }
  std::puts("");
  return exact;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span<char*> wanted(argv + 1, static_cast<std::size_t>(argc - 1));
  bool exact = true;
  for (const auto& with : all_cables) {
    exact = print_table(with, wanted) && exact;
  }
  return exact ? 0 : 1;
}
