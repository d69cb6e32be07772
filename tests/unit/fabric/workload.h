// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "packet/clock.h"

namespace tributary::test {

// The work of eight workers on four leaves and two spines, or of four on one bridge, for comparing
// timeouts.
struct Workload {
  std::string name;
  std::size_t bytes = 0;  // of the vector of each allreduce
  std::size_t repeats = 1;
  bool bridge = false;     // the switch is not told that no other is behind it
  std::uint32_t jobs = 1;  // at the same time, each with a worker on every host
  std::uint64_t rate_bps = 200'000'000;
  // One worker's contributions come so much later than the others', in every block ...
  Duration late{};
  Duration late_jitter{};  // ... and up to this later still
  Duration jitter{};       // on every cable
  double loss = 0;         // on every cable
  bool learn_contributions = true;
};

// Small and large vectors with workers in step, a little late and very late, and large ones on
// cables with jitter or loss, and on slow links, where one job's queue is another one's lateness.
std::vector<Workload> workloads(bool learn_contributions);

// The fixed timeouts that `"adaptive"` is compared with.
inline constexpr std::array<Duration, 5> fixed_timeouts = {
    std::chrono::microseconds(50), std::chrono::microseconds(200), std::chrono::milliseconds(1),
    std::chrono::milliseconds(5), std::chrono::milliseconds(20)};

// Returns the virtual time of all repeats, or no value if a result was wrong or missing. Without a
// timeout it is adaptive.
std::optional<Duration> duration_of(const Workload& workload, std::optional<Duration> timeout,
                                    std::uint64_t seed);

}  // namespace tributary::test
