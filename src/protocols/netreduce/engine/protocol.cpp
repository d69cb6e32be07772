// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/protocol.h"

#include "protocols/netreduce/engine/datagram.h"
#include "protocols/netreduce/engine/drop_reasons.h"
#include "protocols/netreduce/engine/engine.h"
#include "wire/roce.h"

namespace tributary::netreduce {
namespace {

bool begins_with_request(wire::Bytes datagram) {
  const auto* bth = wire::Cursor(datagram).take<wire::BthHeader>();
  return bth != nullptr && wire::is_request(bth->opcode);
}

bool is_request(const engine::Frame& frame) {
  if (frame.udp != nullptr) {
    return begins_with_request(frame.payload);
  }
  const auto datagram = datagram_of(frame);  // this is the datagram over IPv6, whatever is in it
  return datagram.ip != nullptr && datagram.udp->destination_port.value() == wire::roce_udp_port &&
         begins_with_request(datagram.payload);
}

std::uint64_t key(const engine::Frame&) {
  return 0;
}

}  // namespace

constexpr engine::EngineKind engine_kind = engine::kind_of<NetReduceEngine, NetReduceConfig>(
    {.name = "netreduce",
     .udp_ports = {wire::roce_udp_port, wire::roce_udp_port},
     .over_ipv6 = true,
     .confirms = is_request,
     .key = key,
     .drop_reasons = drop::reasons});

}  // namespace tributary::netreduce
