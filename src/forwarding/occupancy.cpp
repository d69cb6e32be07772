// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/occupancy.h"

#include "forwarding/traffic_class.h"

namespace tributary::forwarding {

void Occupancy::divide(std::span<const TrafficClass> classes) {
  classes_ = std::max<std::size_t>(classes.size(), 1);
  sent_.assign(ports_ * classes_, 0);
  if (classes_ > 1) {
    class_by_marking_ = class_by_marking(classes);
  }
}

}  // namespace tributary::forwarding
