// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/protocol.h"

#include "engine/kind.h"
#include "protocols/netreduce/engine/datagram.h"
#include "protocols/netreduce/engine/drop_reasons.h"
#include "protocols/netreduce/engine/engine.h"
#include "wire/roce.h"

namespace tributary::netreduce {

bool claims(const engine::Frame& frame) {
  const auto datagram = datagram_of(frame);
  if (datagram.ip == nullptr || datagram.udp->destination_port.value() != wire::roce_udp_port) {
    return false;
  }
  const auto* bth = wire::Cursor(datagram.payload).take<wire::BthHeader>();
  return bth != nullptr && wire::is_request(bth->opcode);
}

std::uint64_t key(const engine::Frame&) {
  return 0;
}

extern const engine::EngineKind engine_kind;
constexpr engine::EngineKind engine_kind = engine::kind_of<NetReduceEngine, NetReduceConfig>(
    {.name = "netreduce", .claims = claims, .key = key, .drop_reasons = drop::names});

}  // namespace tributary::netreduce
