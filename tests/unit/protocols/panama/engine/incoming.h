// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "fixture.h"
#include "protocols/panama/engine/contribution.h"

namespace tributary::panama {

// A packet as the engine sees it once it has passed every check.
struct Incoming {
  Incoming(Tree& tree, PacketPtr packet)
      : frame(engine::parse_frame(*packet)),
        view(wire::parse_panama(frame.payload)),
        message{frame, *view.header, view.payload},
        contribution{tree, tree.child_of(packet->ingress), std::move(packet), message} {}
  Incoming(const Incoming&) = delete;
  Incoming& operator=(const Incoming&) = delete;

  engine::Frame frame;
  wire::PanamaView view;
  Message message;
  Contribution contribution;
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
