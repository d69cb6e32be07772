// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "packet/packet.h"
#include "protocols/canary/engine/lazy_array.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// A result goes down the tree to children: each is a worker or a switch that aggregates, with the
// port it is reached by, and the link-layer address of it or of the router in front of it. The
// paper's bitmap of ports (4.2) does not name the endpoint, which ordinary switches and routers in
// between need.
struct Child {
  wire::Ipv4Address address;
  std::uint16_t udp_port = 0;  // where it listens; 0 directly over Ethernet
  PortIndex port = no_port;
  wire::MacAddress mac;
  // By this port it has sent, as a switch, a part that was on its way over the bridge; no_port
  // where it has sent none. A sum with that part does not leave by it.
  PortIndex origin = no_port;
  // This is the low half of the fingerprint of what it sent last for this block: the same again is
  // a duplicate. Half of it keeps the table small, and what is missed or mistaken once in 2^32
  // times is found by the leader, who compares whole fingerprints.
  std::uint32_t last_fingerprint = 0;

  // Notes the origin of one more packet of it, which may have none. Returns false if it has another
  // already: there is room for one.
  bool note_origin(PortIndex port) {
    if (origin == no_port) {
      origin = port;
    }
    return port == no_port || port == origin;
  }
};

// Holds the children of every slot of the descriptor array; the number of a slot's children is kept
// in its descriptor.
class ChildrenTable {
 public:
  static constexpr std::uint8_t children_max = 64;  // per slot

  explicit ChildrenTable(std::uint32_t slots) : children_(std::size_t{slots} * children_max) {}

  // Returns the child that listens there, as it was recorded for the slot, or null. It is recorded
  // once, by the path it was first seen on: whoever sends twice still gets one copy of the result.
  Child* find(std::uint32_t slot, std::uint8_t count, wire::Ipv4Address address,
              std::uint16_t udp_port) {
    auto* known = children_.at(std::size_t{slot} * children_max);
    for (auto* end = known + count; known != end; ++known) {
      if (known->address == address && known->udp_port == udp_port) {
        return known;
      }
    }
    return nullptr;
  }
  // Returns where to record a child that the slot does not know yet; null if there is no room.
  Child* add(std::uint32_t slot, std::uint8_t& count) {
    return count == children_max ? nullptr
                                 : children_.at(std::size_t{slot} * children_max + count++);
  }

  // Fetches the children of a slot, which are about to be looked at, or a new one put down behind
  // them.
  void prefetch(std::uint32_t slot, std::uint8_t count) const {
    const auto* first =
        reinterpret_cast<const std::byte*>(children_.at(std::size_t{slot} * children_max));
    for (std::size_t at = 0; at <= count * sizeof(Child); at += cache_line) {
      __builtin_prefetch(first + at);
    }
  }

  std::span<const Child> of(std::uint32_t slot, std::uint8_t count) const {
    return {children_.at(std::size_t{slot} * children_max), count};
  }

 private:
  static constexpr std::size_t cache_line = 64;

  LazyArray<Child> children_;
};

}  // namespace tributary::canary
