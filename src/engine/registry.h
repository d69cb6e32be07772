// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "engine/engine.h"

namespace tributary::engine {

// How a protocol is recognised, without an engine object: the data plane needs it on cores that do
// not own the block, a bridge without engines needs it not at all.
struct Protocol {
  std::string_view name;
  bool (*claims)(const Frame& frame);
  // What all packets of one block have in common; the owning core is a hash of it.
  std::uint64_t (*key)(const Frame& frame);
  // Its packets go to multicast groups, not to hosts.
  bool to_groups = false;
};

}  // namespace tributary::engine
