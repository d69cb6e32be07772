// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "host/clock.h"
#include "host/tuning/cost_table.h"

namespace tributary::host::tuning {

// One means at one size; it is carried out `repetitions` times in a row.
struct Trial {
  Means means = Means::carrier;
  std::size_t bytes = 0;
};
inline constexpr std::size_t repetitions = 3;

// Decides in which order what is measured, and what is left out because it would take too long,
// without I/O and without a clock: all ranks are told the same durations, and so decide alike.
class Trials {
 public:
  Trials(std::uint32_t world_size, Duration allowed) : world_size_(world_size), allowed_(allowed) {}

  // Returns the next trial; nothing: it is over.
  std::optional<Trial> next();
  // Notes of the trial that was next how long it took in all, and what of that counts as a
  // repetition.
  void note(const Trial& trial, Duration total, Duration typical);

  const CostTable& costs() const { return costs_; }
  Duration taken() const { return taken_; }

 private:
  bool fits(const Trial& trial) const;
  Duration expected(const Trial& trial) const;

  std::uint32_t world_size_;
  Duration allowed_;
  std::size_t next_ = 0;
  Duration taken_{};
  CostTable costs_;
};

}  // namespace tributary::host::tuning
