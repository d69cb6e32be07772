// SPDX-License-Identifier: BSD-3-Clause
#include "engines/canary/checks.h"

#include <bit>
#include <cstdint>

namespace tributary::canary {
namespace {

bool is_host_address(wire::Ipv4Address address) {
  return !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast();
}

// The switch itself is no child: its own sum came back, there is a routing loop.
bool is_child(const engine::Frame& frame, const wire::CanaryHeader& header,
              const engine::SwitchIdentity& self) {
  return is_host_address(header.child_address) && header.child_address != self.address &&
         (frame.udp == nullptr || wire::is_canary_udp_port(header.child_port.value()));
}

// Options are not ours to rewrite; the address that routed the packet here is the one it was sealed
// with.
bool is_ip_plain(const engine::Frame& frame, const wire::CanaryHeader& header) {
  return frame.udp == nullptr || (frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
                                  frame.ipv4->destination == header.destination);
}

bool is_own_restoration(const wire::CanaryHeader& header, const engine::SwitchIdentity& self) {
  return header.switch_address.value() == self.id && !header.child_mac.is_group() &&
         std::has_single_bit(header.children.value());
}

}  // namespace

DropReason drop_reason_of(wire::CanaryError error) {
  switch (error) {
    case wire::CanaryError::truncated:
      return DropReason::canary_truncated;
    case wire::CanaryError::oversized:
      return DropReason::canary_oversized;
    case wire::CanaryError::version:
      return DropReason::canary_version;
    case wire::CanaryError::crc:
      return DropReason::canary_crc;
    case wire::CanaryError::malformed:
    case wire::CanaryError::none:
      break;
  }
  return DropReason::canary_malformed;
}

std::optional<DropReason> find_fault(const engine::Frame& frame, const wire::CanaryHeader& header,
                                     const engine::SwitchIdentity& self) {
  if (!is_ip_plain(frame, header)) {
    return DropReason::canary_malformed;
  }
  if (header.kind == wire::CanaryKind::result || header.kind == wire::CanaryKind::release) {
    return std::nullopt;
  }
  if (frame.ethernet->source.is_group()) {
    return DropReason::source_group_mac;
  }
  if (!is_child(frame, header, self)) {
    return DropReason::canary_malformed;
  }
  if (header.kind == wire::CanaryKind::restoration && !is_own_restoration(header, self)) {
    return DropReason::canary_malformed;
  }
  return std::nullopt;
}

}  // namespace tributary::canary
