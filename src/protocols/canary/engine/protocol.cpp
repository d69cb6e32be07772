// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/protocol.h"

#include "engine/kind.h"
#include "protocols/canary/engine/drop_reasons.h"
#include "protocols/canary/engine/engine.h"
#include "protocols/canary/wire.h"

namespace tributary::canary {

bool claims(const engine::Frame& frame) {
  if (frame.udp != nullptr) {
    return wire::is_canary_udp_port(frame.udp->destination_port.value());
  }
  return frame.ethernet != nullptr && frame.ethernet->type.value() == wire::ethertype::canary;
}

std::uint64_t key(const engine::Frame& frame) {
  return wire::peek_canary_key(frame.payload);
}

extern const engine::EngineKind engine_kind;
constexpr engine::EngineKind engine_kind =
    engine::kind_of<CanaryEngine, CanaryConfig>({.name = "canary",
                                                 .claims = claims,
                                                 .key = key,
                                                 .drop_reasons = drop::names,
                                                 .ethertype = wire::ethertype::canary,
                                                 .not_served = drop::not_served});

}  // namespace tributary::canary
