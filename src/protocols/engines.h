// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/kind.h"
#include "packet/fate.h"

namespace tributary::protocols {

// Returns the engine of every protocol, by its row in list.h; frames are offered to them in this
// order.
std::span<const engine::EngineKind* const> engines();

// Returns the protocol that goes by this type directly over Ethernet; null if none does.
const engine::Protocol* protocol_over_ethernet(std::uint16_t ethertype);

// Returns why packets are dropped, with the names that operators see: "no_route", "canary_crc".
std::vector<std::pair<DropReason, std::string>> drop_reasons();

}  // namespace tributary::protocols
