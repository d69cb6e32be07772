// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/protocol.h"

#include "protocols/netreduce/engine/datagram.h"
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

}  // namespace tributary::netreduce
