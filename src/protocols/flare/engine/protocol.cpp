// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/protocol.h"

#include "protocols/flare/engine/accumulator.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "protocols/flare/engine/engine.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {
namespace {

std::uint64_t key(const engine::Frame& frame) {
  return wire::peek_flare_key(frame.payload);
}

// Returns whether the packet comes for the first time, and is dense, of elements whose sum is in
// one packet. All else is for the core that knows what is there.
bool may_gather(const engine::Frame& frame) {
  const auto* header = wire::Cursor(frame.payload).take<wire::FlareHeader>();
  return header != nullptr && header->kind == wire::FlareKind::contribution &&
         header->flags == wire::FlareHeader::current_version &&
         wire::is_valid(header->element_type, header->op) && is_summed_in_place(*header);
}

}  // namespace

constexpr engine::EngineKind engine_kind = engine::kind_of<FlareEngine, FlareConfig>(
    {.name = "flare",
     .udp_ports = {wire::flare_udp_port, wire::flare_udp_port},
     .key = key,
     .drop_reasons = drop::reasons,
     .may_gather = may_gather,
     .to_groups = true});

}  // namespace tributary::flare
