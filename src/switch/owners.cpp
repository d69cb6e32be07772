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
      classifier_(config.protocols) {}

unsigned Owners::core_of(Packet& packet, unsigned here) const {
  if (!has_owners_) {
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
