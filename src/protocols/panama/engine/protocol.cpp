// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/protocol.h"

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

}  // namespace tributary::panama
