// SPDX-License-Identifier: BSD-3-Clause
// Prints the goodput of reductions by what chooses their up-ports, alone and beside traffic that
// fills links, as a table for docs/benchmarks.md.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "unit/fabric/up_ports.h"

namespace {

using tributary::test::UpPortPolicy;

constexpr std::uint64_t seeds = 20;

// By seed, in Mbit/s.
std::vector<double> goodputs_of(const UpPortPolicy& policy, bool congested) {
  std::vector<double> goodputs;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    const auto goodput =
        tributary::test::goodput_of(policy, {.congested = congested, .seed = seed});
    if (!goodput) {
      std::fprintf(stderr, "%s, seed %d: wrong or without an end\n", policy.name.data(),
                   static_cast<int>(seed));
      std::exit(1);
    }
    goodputs.push_back(*goodput / 1e6);
  }
  return goodputs;
}

void print_spread(std::vector<double> values, int digits) {
  std::sort(values.begin(), values.end());
  std::printf(" %.*f (%.*f to %.*f) |", digits, values[values.size() / 2], digits, values.front(),
              digits, values.back());
}

std::vector<double> ratios(std::vector<double> ours, const std::vector<double>& theirs) {
  std::transform(ours.begin(), ours.end(), theirs.begin(), ours.begin(),
                 [](double a, double b) { return a / b; });
  return ours;
}

}  // namespace

int main() {
  std::puts("| up-ports | alone: Mbit/s | congested: Mbit/s | of ECMP, by seed |");
  std::puts("|---|---|---|---|");
  const auto ecmp = goodputs_of(tributary::test::up_port_policies.back(), true);
  for (const auto& policy : tributary::test::up_port_policies) {
    const auto congested = goodputs_of(policy, true);
    std::printf("| %s |", policy.name.data());
    print_spread(goodputs_of(policy, false), 1);
    print_spread(congested, 1);
    print_spread(ratios(congested, ecmp), 2);
    std::puts("");
    std::fflush(stdout);
  }
}
