// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "engine/engine.h"
#include "packet/fate.h"
#include "packet/packet.h"
#include "protocols/panama/engine/tree.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

using engine::Burst;

// Tells in whose tree something is done, and by which port it came that has it done.
struct Cause {
  Tree& tree;
  PortIndex port;
  const Burst& burst;
};

// This is one packet that passed every check, of an installed tree; whoever keeps it moves it away.
struct Incoming : Cause {
  Incoming(Tree& its_tree, PacketPtr its_packet, const engine::Frame& its_frame,
           const Burst& its_burst)
      : Cause{its_tree, its_packet->ingress, its_burst},
        packet(std::move(its_packet)),
        frame(its_frame),
        header(*reinterpret_cast<wire::PanamaHeader*>(frame.payload.data())),
        child(tree.child_of(port)) {
    tree.over_ipv6 = packet->over_ipv6;
  }

  PacketPtr packet;
  const engine::Frame& frame;
  wire::PanamaHeader& header;
  std::uint8_t child;  // from whom it comes; Tree::no_child: from none

  // Elements, and the mask behind them.
  wire::MutableBytes payload() const { return frame.payload.subspan(sizeof header); }
  wire::RankMask mask() const { return wire::RankMask(payload().last(header.mask_bytes())); }
  Round round() const { return round_of(header); }
  std::uint32_t vid() const { return header.vid.value(); }
  bool congested() const { return (frame.ipv4->tos & wire::ecn::mask) == wire::ecn::ce; }

  void drop(DropReason reason) { burst.actions.drop(std::move(packet), reason); }
  void absorb() { burst.actions.absorb(std::move(packet)); }
};

// This is the row that a packet belongs to. The packet `joins` others of the same position there.
struct Place {
  Row& row;
  std::uint64_t position;
  bool joins;
};

}  // namespace tributary::panama
