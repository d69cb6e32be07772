// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "fixture.h"
#include "protocols/panama/engine/incoming.h"

namespace tributary::panama {

// A packet as the engine sees it once it has passed every check.
struct Arrived {
  Arrived(Tree& tree, PacketPtr packet)
      : frame(engine::parse_frame(*packet)), incoming(tree, std::move(packet), frame, burst) {}
  Arrived(const Arrived&) = delete;
  Arrived& operator=(const Arrived&) = delete;

  Ledger ledger;
  engine::Actions actions{ledger};
  Burst burst{Time{}, actions};
  engine::Frame frame;
  Incoming incoming;
};

// A row of the tree that gathers; nothing is in it.
inline Row& gathering_row(Tree& tree, std::uint64_t position, const wire::PanamaHeader& header) {
  auto& row = tree.row(position);
  row.state = Row::State::gathering;
  row.position = position;
  row.holds = true;
  row.header = header;
  row.kernel = &reduce::kernel(header.element_type, header.op);
  return row;
}

}  // namespace tributary::panama
