// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "forwarding/config.h"
#include "packet/clock.h"

namespace tributary::forwarding {

// Learns by which traffic classes reductions go, as hosts choose the codepoint: the queues of other
// classes are not in their way. A class is forgotten when reductions went by others alone for a
// while, but not because none came: then neighbours may avoid this switch for that very class.
class ReductionClasses {
 public:
  static constexpr Duration memory = std::chrono::seconds(10);

  // Forgets all. Until some reduction has come, all classes count, or none.
  void reset(bool all) {
    seen_at_.fill(all ? Time{} : Time::min());
    latest_ = Time{};
  }
  void note(std::size_t traffic_class, Time now) { seen_at_[traffic_class] = latest_ = now; }
  bool has(std::size_t traffic_class) const { return seen_at_[traffic_class] + memory >= latest_; }

 private:
  std::array<Time, traffic_classes_max> seen_at_{};
  Time latest_{};
};

}  // namespace tributary::forwarding
