// SPDX-License-Identifier: BSD-3-Clause
#include "engines/canary/children.h"

#include <algorithm>

namespace tributary::canary {

Child* ChildrenTable::find(std::uint32_t slot, std::uint8_t count, const Child& child) {
  const std::span<Child> known{children_.at(std::size_t{slot} * children_max), count};
  const auto found = std::find_if(known.begin(), known.end(), [&child](const Child& other) {
    return other.address == child.address && other.udp_port == child.udp_port;
  });
  return found == known.end() ? nullptr : &*found;
}

bool ChildrenTable::add(std::uint32_t slot, std::uint8_t& count, const Child& child) {
  if (count == children_max) {
    return false;
  }
  *children_.at(std::size_t{slot} * children_max + count) = child;
  ++count;
  return true;
}

}  // namespace tributary::canary
