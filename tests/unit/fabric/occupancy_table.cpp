// SPDX-License-Identifier: BSD-3-Clause
// Prints the memory that blocks hold on a leaf, beside the paper's model, as a table for
// docs/benchmarks.md.
#include <cstdio>

#include "unit/fabric/occupancy.h"

namespace {

using tributary::test::OccupancyCase;

double kib(double bytes) {
  return bytes / 1024;
}

bool print_row(const OccupancyCase& row) {
  const auto occupied = tributary::test::occupy(row);
  const double model = kib(tributary::test::modelled_bytes(row));
  const double accumulators = kib(static_cast<double>(occupied.accumulator_bytes));
  const double descriptors = kib(static_cast<double>(occupied.descriptor_bytes));
  std::printf(
      "| %u | %u Mbit/s | %.1f ms | %.0f ms | %.0f KiB | %.0f KiB (%.2f) | %.0f KiB (%.2f) |\n",
      row.levels, static_cast<unsigned>(row.rate_bps / 1'000'000),
      std::chrono::duration<double, std::milli>(row.timeout).count(),
      std::chrono::duration<double, std::milli>(row.late).count(), model, accumulators,
      accumulators / model, descriptors, descriptors / model);
  std::fflush(stdout);
  return occupied.exact;
}

}  // namespace

int main() {
  std::puts(
      "| levels | rate | timeout | a worker late by | model | accumulators | descriptors x frame "
      "|");
  std::puts("|---|---|---|---|---|---|---|");
  bool exact = true;
  for (const auto& row : tributary::test::occupancy_cases()) {
    exact = print_row(row) && exact;
  }
  return exact ? 0 : 1;
}
