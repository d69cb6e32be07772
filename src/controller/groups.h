// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>

#include "controller/topology.h"

namespace tributary::controller {

// Gives each tree a multicast address.
class Groups {
 public:
  explicit Groups(GroupRange range) : range_(range) {}

  // A tree of a job that is not placed here has the address.
  void refuse(wire::Ipv4Address group) { given_.insert(group); }
  // A tree that is placed here had the address: others get it only when there is no other.
  void reserve(wire::Ipv4Address group) { reserved_.insert(group); }
  // Returns `former` if it may still be had, else the first that is free.
  std::optional<wire::Ipv4Address> take(std::optional<wire::Ipv4Address> former) {
    if (former && range_.first <= *former && *former <= range_.last &&
        given_.insert(*former).second) {
      return former;
    }
    auto group = first_free(reserved_);
    if (!group) {
      group = first_free({});
    }
    if (group) {
      given_.insert(*group);
    }
    return group;
  }

 private:
  std::optional<wire::Ipv4Address> first_free(const std::set<wire::Ipv4Address>& avoided) const {
    for (std::uint64_t value = range_.first.value(); value <= range_.last.value(); ++value) {
      const wire::Ipv4Address group(static_cast<std::uint32_t>(value));
      if (!avoided.contains(group) && !given_.contains(group)) {
        return group;
      }
    }
    return std::nullopt;
  }

  GroupRange range_;
  std::set<wire::Ipv4Address> reserved_;
  std::set<wire::Ipv4Address> given_;
};

}  // namespace tributary::controller
