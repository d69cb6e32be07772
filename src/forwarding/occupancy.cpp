// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/occupancy.h"

#include "forwarding/traffic_class.h"

namespace tributary::forwarding {

bool Occupancy::divide(std::span<const TrafficClass> classes) {
  const auto classes_before = classes_;
  const auto by_marking_before = class_by_marking_;
  classes_ = std::max<std::size_t>(classes.size(), 1);
  sent_.assign(ports_ * classes_, 0);
  if (classes_ > 1) {
    class_by_marking_ = class_by_marking(classes);
  } else {
    class_by_marking_.fill(0);
  }
  return classes_ != classes_before || class_by_marking_ != by_marking_before;
}

}  // namespace tributary::forwarding
