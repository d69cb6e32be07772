// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/protocol.h"

#include "engine/kind.h"
#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

bool claims(const engine::Frame& frame) {
  constexpr unsigned ecn_bits = 2;
  return frame.udp != nullptr && frame.ipv4->tos >> ecn_bits == wire::panama_dscp &&
         frame.udp->destination_port.value() == wire::panama_udp_port;
}

std::uint64_t key(const engine::Frame& frame) {
  return wire::peek_panama_key(frame.payload);
}

extern const engine::EngineKind engine_kind;
constexpr engine::EngineKind engine_kind =
    engine::kind_of<PanamaEngine, PanamaConfig>({.name = "panama",
                                                 .claims = claims,
                                                 .key = key,
                                                 .drop_reasons = drop::names,
                                                 .to_groups = true});

}  // namespace tributary::panama
