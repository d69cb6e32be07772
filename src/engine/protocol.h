// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/frame.h"
#include "packet/fate.h"

namespace tributary::engine {

// Destination ports, first to last; none unless they are set.
struct UdpPorts {
  std::uint16_t first = 1;
  std::uint16_t last = 0;

  constexpr bool contain(std::uint16_t port) const { return first <= port && port <= last; }
};

// How a protocol is recognised, without an engine object: the data plane needs it on cores that do
// not own the block, a bridge without engines needs it not at all.
struct Protocol {
  std::string_view name;
  UdpPorts udp_ports{};  // over IPv4
  // What it goes by directly over Ethernet, if it does, and for what such a frame is dropped where
  // no engine takes it.
  std::uint16_t ethertype = 0;
  std::optional<DropReason> not_served = std::nullopt;
  // All of IPv6 is left to `confirms`: no frame is parsed so far.
  bool over_ipv6 = false;
  // What these leave open, asked of no frame that they rule out; null: they say all.
  bool (*confirms)(const Frame& frame) = nullptr;
  // What all packets of one block have in common; the owning core is a hash of it.
  std::uint64_t (*key)(const Frame& frame);
  // For what its engine drops packets, in the order of its drop::Number.
  std::span<const std::string_view> drop_reasons;
  // Whether a core that does not own the frame's block may give it to Engine::gather(); null: none.
  bool (*may_gather)(const Frame& frame) = nullptr;
  // Its packets go to multicast groups, not to hosts.
  bool to_groups = false;

  // It goes by this type directly over Ethernet, or may be in what does.
  bool goes_by(std::uint16_t type) const {
    return type != 0 && (type == ethertype || (over_ipv6 && type == wire::ethertype::ipv6));
  }
  // The frame is of this protocol. A switch asks for all that are on at once (switch/classifier.h).
  bool claims(const Frame& frame) const {
    const bool has_number =
        frame.udp != nullptr ? udp_ports.contain(frame.udp->destination_port.value())
                             : frame.ethernet != nullptr && goes_by(frame.ethernet->type.value());
    return has_number && (confirms == nullptr || confirms(frame));
  }
};

}  // namespace tributary::engine
