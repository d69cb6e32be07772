// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "engine/frame.h"
#include "packet/packet.h"
#include "switch/classifier.h"
#include "switch/config.h"
#include "switch/embedding.h"
#include "switch/vlans.h"

namespace tributary::switching {

// Owners says which of several cores takes a packet into a logical switch.
class Owners {
 public:
  Owners() = default;
  Owners(const SwitchConfig& config, unsigned cores);

  // Returns the core that owns the block of this packet (by a hash of its aggregation key) or the
  // sessions with neighbours. It returns `here` when any core may handle the packet, or may add it
  // to a partial sum for the owner. Packet::ingress need not be set where there are neither VLANs
  // nor addresses that embed. What it finds in the frame it notes in the packet, which is to go to
  // Switch::receive() as it is.
  unsigned core_of(Packet& packet, unsigned here) const;

 private:
  unsigned core_behind_tag(Packet& packet, unsigned here) const;
  unsigned owner_of(Packet& packet, const engine::Frame& frame, unsigned here) const;
  bool is_of_strangers(Packet& packet) const;
  bool is_for_sessions(Packet& packet, const engine::Frame& frame) const;

  unsigned cores_ = 1;
  bool has_owners_ = false;  // some packets have owners
  bool watches_ = false;     // next hops are watched by BFD
  Vlans vlans_;
  Embedding embedding_;
  Classifier classifier_;
  // By claim, this says whether a core may add up packets for their owner; null: it may not.
  std::array<bool (*)(const engine::Frame&), engine::noted::claims + 1> may_gather_{};
};

}  // namespace tributary::switching
