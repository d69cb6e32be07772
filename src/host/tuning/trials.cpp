// SPDX-License-Identifier: BSD-3-Clause
#include "host/tuning/trials.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

namespace tributary::host::tuning {
namespace {

constexpr std::size_t step = 8;  // from most sizes to the next one
// The shortest vectors show latencies, the longest ones bandwidths. A ring has many times the
// latency of doubling for few bytes, and doubling sends many times the bytes of a ring.
constexpr std::array ladder = {
    Trial{Means::carrier, 8},
    Trial{Means::doubling, 8},
    Trial{Means::carrier, 4096},
    Trial{Means::doubling, 4096},
    Trial{Means::ring, 4096},
    Trial{Means::carrier, 4096 * step},
    Trial{Means::doubling, 4096 * step},
    Trial{Means::ring, 4096 * step},
    Trial{Means::carrier, 4096 * step* step},
    Trial{Means::doubling, 4096 * step* step},
    Trial{Means::ring, 4096 * step* step},
    Trial{Means::carrier, 4096 * step* step* step},
    Trial{Means::ring, 4096 * step* step* step},
};

}  // namespace

std::optional<Trial> Trials::next() {
  while (next_ < ladder.size() && !fits(ladder[next_])) {
    ++next_;
  }
  return next_ < ladder.size() ? std::optional(ladder[next_++]) : std::nullopt;
}

void Trials::note(const Trial& trial, Duration total, Duration typical) {
  taken_ += total;
  costs_.add(trial.means, trial.bytes, typical);
}

bool Trials::fits(const Trial& trial) const {
  return taken_ < allowed_ && taken_ + expected(trial) * repetitions <= allowed_;
}

// Returns how long it takes at most, as far as can be told: a longer vector takes as many times
// longer.
Duration Trials::expected(const Trial& trial) const {
  const auto& known = costs_.measured(trial.means);
  if (!known.empty()) {
    const auto times = std::min(trial.bytes / known.back().bytes, step);
    return known.back().time * static_cast<Duration::rep>(times);
  }
  const auto latency = costs_.time(Means::doubling, 0);
  if (trial.means != Means::ring || !latency) {
    return {};
  }
  // Each step of both waits for another rank once.
  const auto steps = std::bit_width(world_size_ - 1);
  return *latency / steps * 2 * (world_size_ - 1);
}

}  // namespace tributary::host::tuning
