// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "traffic/trial.h"

namespace tributary::traffic {

struct SearchPlan {
  double loss_max = 0;  // a share: 0 for NDR, 0.005 for PDR
  // The highest rate is tried first. If it is unlimited, what the generator reached then is the
  // highest.
  Rate highest;
  double precision = 0.01;  // of the highest rate
  std::size_t trials_max = 20;
};

// A Search finds the throughput of RFC 2544 (26.1), by bisection: the highest rate at which no more
// than a given share is lost.
class Search {
 public:
  // The generator is said to have reached a rate from this share of it on.
  static constexpr double reached_min = 0.98;

  explicit Search(const SearchPlan& plan) : plan_(plan) {}

  // Returns the rate to try next, or none when the search is over.
  std::optional<Rate> next() const;
  void add(TrialResult result);

  bool passed(const TrialResult& result) const;
  const std::vector<TrialResult>& trials() const { return trials_; }
  // Returns the passed trial at the highest rate; null if there is none.
  const TrialResult* best() const;

 private:
  SearchPlan plan_;
  std::vector<TrialResult> trials_;
  Rate highest_;
  double low_ = 0;      // the highest rate known to pass, or 0
  double high_ = 0;     // bounds the search above: failed, or not reached
  bool stuck_ = false;  // the last trial proved nothing
  bool over_ = false;
};

}  // namespace tributary::traffic
