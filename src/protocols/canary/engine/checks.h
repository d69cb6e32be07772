// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <optional>

#include "engine/engine.h"
#include "engine/frame.h"
#include "packet/fate.h"
#include "protocols/canary/engine/drop_reasons.h"
#include "protocols/canary/engine/message.h"
#include "protocols/canary/wire.h"

namespace tributary::canary {

namespace detail {

// The switch itself is no child: if its own sum came back, there is a routing loop.
inline bool is_child(const engine::Frame& frame, const wire::CanaryHeader& header,
                     const engine::SwitchIdentity& self) {
  const auto child = header.child_address;
  return child.is_routable_unicast() && child != self.address &&
         (frame.udp == nullptr || wire::is_canary_udp_port(header.child_port.value()));
}

// A packet must have no IP options, which are not ours to rewrite; and the address that routed it
// here must be the one it was sealed with.
inline bool is_ip_plain(const engine::Frame& frame, const wire::CanaryHeader& header) {
  return frame.udp == nullptr || (frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
                                  frame.ipv4->destination == header.destination);
}

inline bool is_own_restoration(const wire::CanaryHeader& header,
                               const engine::SwitchIdentity& self) {
  return header.switch_address.value() == self.id && !header.child_mac.is_group() &&
         std::has_single_bit(header.children.value());
}

}  // namespace detail

// What a child writes about itself is where a result will be sent, so it has to be an address that
// a Canary endpoint can have.
inline bool is_from_child(const engine::Frame& frame, const wire::CanaryHeader& header,
                          const engine::SwitchIdentity& self) {
  return !frame.ethernet->source.is_group() && detail::is_child(frame, header, self);
}

// Returns why a packet that this switch is to process cannot be, beyond what the wire parser
// checks; no value if it can.
inline std::optional<DropReason> find_fault(const engine::Frame& frame,
                                            const wire::CanaryHeader& header,
                                            const engine::SwitchIdentity& self) {
  if (!detail::is_ip_plain(frame, header)) {
    return drop::malformed;
  }
  if (header.kind == wire::CanaryKind::result || header.kind == wire::CanaryKind::release) {
    return std::nullopt;
  }
  if (frame.ethernet->source.is_group()) {
    return DropReason::source_group_mac;
  }
  if (!detail::is_child(frame, header, self)) {
    return drop::malformed;
  }
  if (header.kind == wire::CanaryKind::restoration && !detail::is_own_restoration(header, self)) {
    return drop::malformed;
  }
  return std::nullopt;
}

}  // namespace tributary::canary
