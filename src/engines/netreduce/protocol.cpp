// SPDX-License-Identifier: BSD-3-Clause
#include "engines/netreduce/protocol.h"

#include "wire/roce.h"

namespace tributary::netreduce {

bool claims(const engine::Frame& frame) {
  if (frame.udp == nullptr || frame.udp->destination_port.value() != wire::roce_udp_port) {
    return false;
  }
  const auto* bth = wire::Cursor(frame.payload).take<wire::BthHeader>();
  return bth != nullptr && wire::position_of(bth->opcode) != wire::RocePosition::none;
}

std::uint64_t key(const engine::Frame&) {
  return 0;
}

}  // namespace tributary::netreduce
