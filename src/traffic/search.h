// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "traffic/trial.h"

namespace tributary::traffic {

struct SearchPlan {
  double loss_max = 0;  // a share: 0 for NDR, 0.005 for PDR
  // The highest rate, tried first. Unlimited: what the generator reached then is the highest.
  Rate highest;
  double precision = 0.01;  // of the highest rate
  std::size_t trials_max = 20;
};

// The throughput of RFC 2544 (26.1): the highest rate at which no more than a given share is lost,
// by bisection.
class Search {
 public:
  // The share of a rate from which on the generator is said to have reached it.
  static constexpr double reached_min = 0.98;

  explicit Search(const SearchPlan& plan) : plan_(plan) {}

  // The rate to try next; none when the search is over.
  std::optional<Rate> next() const;
  void add(TrialResult result);

  bool passed(const TrialResult& result) const;
  const std::vector<TrialResult>& trials() const { return trials_; }
  // The passed trial at the highest rate; null if there is none.
  const TrialResult* best() const;

 private:
  SearchPlan plan_;
  std::vector<TrialResult> trials_;
  Rate highest_;
  double low_ = 0;      // passed, or nothing
  double high_ = 0;     // failed
  bool stuck_ = false;  // the last trial proved nothing
  bool over_ = false;
};

}  // namespace tributary::traffic
