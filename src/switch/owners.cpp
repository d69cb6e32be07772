// SPDX-License-Identifier: BSD-3-Clause
#include "switch/owners.h"

#include "engine/spreading.h"
#include "protocols/engines.h"
#include "switch/liveness.h"
#include "switch/tags.h"

namespace tributary::switching {

Owners::Owners(const SwitchConfig& config, unsigned cores)
    : cores_(cores),
      has_owners_(cores > 1 && (!config.protocols.empty() || config.bfd)),
      watches_(config.bfd.has_value()),
      vlans_(config),
      embedding_(config),
      classifier_(config.protocols) {
  const auto kinds = protocols::engines();
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    const auto& settings = config.protocols.of(row);
    if (settings.has_value() && kinds[row]->has_partial_sums(settings)) {
      may_gather_[row + 1] = kinds[row]->protocol.may_gather;
    }
  }
}

// The packet is in no VLAN, or in one in which no engine is. No core knows more of such a packet
// than others, unless it belongs to a session with a neighbour.
bool Owners::is_of_strangers(Packet& packet) const {
  return vlans_.enter(packet) || (packet.vlan != 0 && !vlans_.is_own(packet));
}

bool Owners::is_for_sessions(Packet& packet, const engine::Frame& frame) const {
  if (!watches_ || frame.ethernet == nullptr) {
    return false;
  }
  if (frame.ethernet->type.value() != wire::ethertype::ipv6) {
    return is_bfd(frame);
  }
  const auto datagram = parse_ipv6(packet);
  return datagram && is_bfd(*datagram);
}

unsigned Owners::core_of(Packet& packet, unsigned here) const {
  if (!has_owners_) {
    return here;
  }
  if (vlans_.on() && is_of_strangers(packet)) {
    return is_for_sessions(packet, engine::parse_frame(packet)) ? Liveness::core : here;
  }
  if (embedding_.on()) {
    embedding_.enter(packet);
  }
  const auto frame = engine::parse_frame(packet);
  if (frame.ethernet == nullptr) {
    return here;
  }
  return has_tag(*frame.ethernet) ? core_behind_tag(packet, here) : owner_of(packet, frame, here);
}

// A priority tag is off where an engine claims the frame. The bridge may pass on any other one.
unsigned Owners::core_behind_tag(Packet& packet, unsigned here) const {
  const auto tag = take_off_priority_tag(packet);
  if (!tag) {
    return here;
  }
  if (embedding_.on()) {
    embedding_.enter(packet);
  }
  const auto frame = engine::parse_frame(packet);
  const auto owner = owner_of(packet, frame, here);
  if (engine::noted_claim(packet) == 0) {
    put_back(packet, *tag);
    packet.noted = 0;
  }
  return owner;
}

unsigned Owners::owner_of(Packet& packet, const engine::Frame& frame, unsigned here) const {
  const auto claim = classifier_.claim_on(frame);
  engine::note(packet, frame, claim);
  if (is_for_sessions(packet, frame)) {
    return Liveness::core;
  }
  if (claim == 0) {
    return here;
  }
  const auto& protocol = protocols::engines()[claim - 1u]->protocol;
  const auto owner = engine::owner_of(protocol.key(frame), cores_);
  if (owner != here && may_gather_[claim] != nullptr && may_gather_[claim](frame)) {
    packet.noted |= engine::noted::elsewhere;
    return here;
  }
  return owner;
}

}  // namespace tributary::switching
