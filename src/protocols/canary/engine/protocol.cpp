// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/protocol.h"

#include "protocols/canary/engine/drop_reasons.h"
#include "protocols/canary/engine/engine.h"
#include "protocols/canary/wire.h"

namespace tributary::canary {
namespace {

std::uint64_t key(const engine::Frame& frame) {
  return wire::peek_canary_key(frame.payload);
}

}  // namespace

constexpr engine::EngineKind engine_kind = engine::kind_of<CanaryEngine, CanaryConfig>(
    {.name = "canary",
     .udp_ports = {wire::canary_udp_port_first, wire::canary_udp_port_last},
     .ethertype = wire::ethertype::canary,
     .not_served = drop::not_served,
     .key = key,
     .drop_reasons = drop::reasons,
     .gives_paths = true});

}  // namespace tributary::canary
