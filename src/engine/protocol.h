// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/frame.h"
#include "packet/fate.h"

namespace tributary::engine {

// Destination ports are given first to last; there are none unless they are set.
struct UdpPorts {
  std::uint16_t first = 1;
  std::uint16_t last = 0;

  constexpr bool contain(std::uint16_t port) const { return first <= port && port <= last; }
};

// A Protocol tells how packets are recognised, without an engine object: the data plane needs that
// on cores that do not own the block, and a bridge without engines needs no object at all.
struct Protocol {
  std::string_view name;
  UdpPorts udp_ports{};  // over IPv4
  // A protocol that goes directly over Ethernet has a type there; where no engine takes such a
  // frame, it is dropped for the reason `not_served`.
  std::uint16_t ethertype = 0;
  std::optional<DropReason> not_served = std::nullopt;
  // All of IPv6 is left to `confirms`, since no frame of it is parsed so far.
  bool over_ipv6 = false;
  // Decides what the fields above leave open, and is asked of no frame that they rule out; null:
  // they decide alone.
  bool (*confirms)(const Frame& frame) = nullptr;
  // Returns what all packets of one block have in common; the owning core is a hash of it.
  std::uint64_t (*key)(const Frame& frame);
  // The engine drops packets for these reasons, in the order of its drop::Number.
  std::span<const DropText> drop_reasons;
  // Returns whether a core that does not own the frame's block may give it to Engine::gather();
  // null: none may.
  bool (*may_gather)(const Frame& frame) = nullptr;
  // The protocol's packets go to multicast groups, not to hosts.
  bool to_groups = false;
  // What its engines send on of a block has a Path, by which the switch tells it from other
  // packets.
  bool gives_paths = false;

  // Returns whether the protocol has this type directly over Ethernet, or may be inside what has
  // it.
  bool goes_by(std::uint16_t type) const {
    return type != 0 && (type == ethertype || (over_ipv6 && type == wire::ethertype::ipv6));
  }
  // Returns whether the frame is of this protocol. A switch asks for all that are on at once
  // (switch/classifier.h).
  bool claims(const Frame& frame) const {
    const bool has_number =
        frame.udp != nullptr ? udp_ports.contain(frame.udp->destination_port.value())
                             : frame.ethernet != nullptr && goes_by(frame.ethernet->type.value());
    return has_number && (confirms == nullptr || confirms(frame));
  }
};

}  // namespace tributary::engine
