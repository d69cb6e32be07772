// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/frame.h"
#include "packet/fate.h"

namespace tributary::engine {

// How a protocol is recognised, without an engine object: the data plane needs it on cores that do
// not own the block, a bridge without engines needs it not at all.
struct Protocol {
  std::string_view name;
  bool (*claims)(const Frame& frame);
  // What all packets of one block have in common; the owning core is a hash of it.
  std::uint64_t (*key)(const Frame& frame);
  // For what its engine drops packets, in the order of its drop::Number.
  std::span<const std::string_view> drop_reasons;
  // Its packets go to multicast groups, not to hosts.
  bool to_groups = false;
  // What it goes by directly over Ethernet, if it does, and for what such a frame is dropped where
  // no engine takes it.
  std::uint16_t ethertype = 0;
  std::optional<DropReason> not_served = std::nullopt;
};

}  // namespace tributary::engine
