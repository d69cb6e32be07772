// SPDX-License-Identifier: BSD-3-Clause
#include "switch/owners.h"

#include "protocols/engines.h"
#include "switch/liveness.h"
#include "switch/spreading.h"
#include "wire/key.h"
#include "wire/spread.h"

namespace tributary::switching {

Owners::Owners(const SwitchConfig& config, unsigned cores)
    : cores_(cores),
      has_owners_(cores > 1 && (!config.protocols.empty() || config.bfd)),
      watches_(config.bfd.has_value()),
      vlans_(config),
      classifier_(config.protocols) {}

// In a VLAN in which the switch itself is not, or in none: no core knows more of it than others.
bool Owners::is_of_strangers(Packet& packet) const {
  return vlans_.enter(packet) || (packet.vlan != 0 && !vlans_.is_own(packet));
}

unsigned Owners::core_of(Packet& packet, unsigned here) const {
  if (!has_owners_) {
    return here;
  }
  if (vlans_.on() && is_of_strangers(packet)) {
    return here;
  }
  const auto frame = engine::parse_frame(packet);
  if (frame.ethernet == nullptr) {
    return here;
  }
  const auto claim = classifier_.claim_on(frame);
  engine::note(packet, frame, claim);
  if (watches_ && is_bfd(frame)) {
    return Liveness::core;
  }
  if (claim == 0) {
    return here;
  }
  const auto& protocol = protocols::engines()[claim - 1u]->protocol;
  return core_of_spread(wire::spread(wire::source_port_of(protocol.key(frame))), cores_);
}

}  // namespace tributary::switching
