// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/frame.h"
#include "packet/packet.h"
#include "protocols/panama/engine/tree.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

// One packet that passed every check, of a tree that is installed.
struct Message {
  const engine::Frame& frame;
  wire::PanamaHeader& header;
  wire::MutableBytes payload;

  bool congested() const { return (frame.ipv4->tos & wire::ecn::mask) == wire::ecn::ce; }
};

// A packet that came up a tree from a child; whoever keeps the packet moves it away.
struct Contribution {
  Tree& tree;
  std::uint8_t child;
  PacketPtr packet;
  const Message& message;

  const wire::PanamaHeader& header() const { return message.header; }
};

// The row that it belongs to. It `joins` others that are there of the same position.
struct Place {
  Row& row;
  std::uint64_t position;
  bool joins;
};

}  // namespace tributary::panama
