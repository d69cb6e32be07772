// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/protocol.h"

#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/engine.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {
namespace {

std::uint64_t key(const engine::Frame& frame) {
  return wire::peek_flare_key(frame.payload);
}

}  // namespace

constexpr engine::EngineKind engine_kind = engine::kind_of<FlareEngine, FlareConfig>(
    {.name = "flare",
     .udp_ports = {wire::flare_udp_port, wire::flare_udp_port},
     .key = key,
     .drop_reasons = drop::names,
     .to_groups = true});

}  // namespace tributary::flare
