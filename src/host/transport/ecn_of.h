// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>

#include "wire/ipv4.h"

namespace tributary::host {

// The control data of one datagram of a socket with IP_RECVTOS or IPV6_RECVTCLASS has room in this.
inline constexpr std::size_t ecn_control_bytes = CMSG_SPACE(sizeof(int));

// Returns the ECN bits that a control message tells; 0 for none, or for another message.
inline std::uint8_t ecn_of(const cmsghdr* message) {
  if (message == nullptr) {
    return 0;
  }
  if (message->cmsg_level == IPPROTO_IPV6 && message->cmsg_type == IPV6_TCLASS) {
    int traffic_class = 0;
    std::memcpy(&traffic_class, CMSG_DATA(message), sizeof traffic_class);
    return static_cast<std::uint8_t>(traffic_class) & wire::ecn::mask;
  }
  if (message->cmsg_level != IPPROTO_IP || message->cmsg_type != IP_TOS) {
    return 0;
  }
  std::uint8_t tos = 0;
  std::memcpy(&tos, CMSG_DATA(message), sizeof tos);
  return tos & wire::ecn::mask;
}

}  // namespace tributary::host
