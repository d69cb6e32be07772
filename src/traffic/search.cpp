// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/search.h"

#include <algorithm>
#include <utility>

namespace tributary::traffic {

std::optional<Rate> Search::next() const {
  if (trials_.empty()) {
    return plan_.highest;
  }
  if (over_ || trials_.size() >= plan_.trials_max ||
      high_ - low_ <= plan_.precision * highest_.per_second) {
    return std::nullopt;
  }
  return Rate{highest_.unit, (low_ + high_) / 2};
}

bool Search::passed(const TrialResult& result) const {
  return result.counters.begun > 0 && result.loss() <= plan_.loss_max && result.wrong == 0;
}

// A trial proves what it sent, not what was asked for. A generator that was kept from its CPU may
// reach the same rate another time; if it does not, that bounds the search.
void Search::add(TrialResult result) {
  const bool good = passed(result);
  if (trials_.empty()) {
    highest_ = plan_.highest;
    if (highest_.is_unlimited()) {
      highest_ = Rate{Rate::Unit::packets, result.packets_per_second()};
    }
    high_ = highest_.per_second;
  }
  const double asked = result.rate.is_unlimited() ? high_ : result.rate.per_second;
  const double proven = asked * std::min(result.reached(), 1.0);
  const bool reached = result.reached() >= reached_min;
  const bool progress = good && proven > low_ + plan_.precision * highest_.per_second / 2;
  if (good) {
    low_ = std::max(low_, reached ? asked : proven);
  }
  const bool stuck = good && !reached && !progress;
  if (!good || (stuck && stuck_)) {
    high_ = asked;
  }
  stuck_ = stuck && !stuck_;
  // Wrong sums do not go away at lower rates; without a packet there is nothing to search.
  over_ = over_ || result.wrong != 0 || result.counters.begun == 0 || result.cut_short;
  trials_.push_back(std::move(result));
}

const TrialResult* Search::best() const {
  const TrialResult* best = nullptr;
  for (const auto& trial : trials_) {
    if (passed(trial) && !trial.cut_short &&
        (best == nullptr || trial.packets_per_second() > best->packets_per_second())) {
      best = &trial;
    }
  }
  return best;
}

}  // namespace tributary::traffic
