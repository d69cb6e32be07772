// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/protocol.h"

#include "protocols/panama/engine/drop_reasons.h"
#include "protocols/panama/engine/engine.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {
namespace {

bool has_dscp(const engine::Frame& frame) {
  constexpr unsigned ecn_bits = 2;
  return frame.ipv4->tos >> ecn_bits == wire::panama_dscp;
}

std::uint64_t key(const engine::Frame& frame) {
  return wire::peek_panama_key(frame.payload);
}

}  // namespace

constexpr engine::EngineKind engine_kind = engine::kind_of<PanamaEngine, PanamaConfig>(
    {.name = "panama",
     .udp_ports = {wire::panama_udp_port, wire::panama_udp_port},
     .confirms = has_dscp,
     .key = key,
     .drop_reasons = drop::reasons,
     .to_groups = true});

}  // namespace tributary::panama
