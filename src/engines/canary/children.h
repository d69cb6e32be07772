// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engines/canary/lazy_array.h"
#include "packet/packet.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// Where a result goes down the tree: a worker or a switch that aggregates, the port it is reached
// by, and the link-layer address of it or of the router in front of it. The paper's bitmap of ports
// (4.2) does not name the endpoint, which ordinary switches and routers in between need.
struct Child {
  wire::Ipv4Address address;
  std::uint16_t udp_port = 0;  // where it listens; 0 directly over Ethernet
  PortIndex port = no_port;
  wire::MacAddress mac;
};

enum class Recorded : std::uint8_t { added, known, full };

// The children of every slot of the descriptor array; the number of a slot's children is kept in
// its descriptor.
class ChildrenTable {
 public:
  static constexpr std::uint8_t children_max = 64;  // per slot

  explicit ChildrenTable(std::uint32_t slots) : children_(std::size_t{slots} * children_max) {}

  // An endpoint is recorded once, by the path it was first seen on: whoever sends twice
  // (duplicates, a straggler after the partial sum) still gets one copy of the result.
  Recorded record(std::uint32_t slot, std::uint8_t& count, const Child& child);

  std::span<const Child> of(std::uint32_t slot, std::uint8_t count) const {
    return {children_.at(std::size_t{slot} * children_max), count};
  }

 private:
  LazyArray<Child> children_;
};

}  // namespace tributary::canary
