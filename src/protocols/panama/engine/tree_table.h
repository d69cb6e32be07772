// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/frame.h"
#include "engine/tree_table.h"
#include "protocols/panama/engine/tree.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

// The trees that are installed, each (job, tree) once.
class TreeTable : public engine::TreeTable<Tree> {
 public:
  // Null: it is not here.
  Tree* find(std::uint32_t job, std::uint16_t tree) const {
    return engine::TreeTable<Tree>::find(wire::panama_key(job, tree));
  }
  // The tree that the frame's header names; null if it is not here, or the frame has no whole one.
  Tree* find(const engine::Frame& frame) const {
    const auto* header = wire::Cursor(frame.payload).take<wire::PanamaHeader>();
    return header == nullptr ? nullptr : find(header->job.value(), header->tree.value());
  }
};

}  // namespace tributary::panama
