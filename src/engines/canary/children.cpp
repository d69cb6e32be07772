// SPDX-License-Identifier: BSD-3-Clause
#include "engines/canary/children.h"

#include <algorithm>

namespace tributary::canary {

Recorded ChildrenTable::record(std::uint32_t slot, std::uint8_t& count, const Child& child) {
  const auto known = of(slot, count);
  const auto is_same = [&child](const Child& other) {
    return other.address == child.address && other.udp_port == child.udp_port;
  };
  if (std::any_of(known.begin(), known.end(), is_same)) {
    return Recorded::known;
  }
  if (count == children_max) {
    return Recorded::full;
  }
  *children_.at(std::size_t{slot} * children_max + count) = child;
  ++count;
  return Recorded::added;
}

}  // namespace tributary::canary
