// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocols/netreduce/wire.h"

namespace tributary::host {

// What the ranks of a job and its switch agree on about a ring.
struct NetReducePlan {
  std::uint32_t ring = 0;               // RingID
  std::uint32_t window = 2;             // the paper's N: messages that a rank may have open
  std::uint32_t message_packets = 170;  // of a full message
  std::uint32_t mtu = 1024;  // payload bytes of a packet: the path MTU of the queue pairs

  // Of the link's memory in either direction: a message's place is its number modulo these.
  std::uint32_t slots() const { return 2 * window; }
  std::uint32_t message_bytes() const { return message_packets * mtu; }
  // Elements, in bytes, in a full message. Each packet has a fingerprint word, the first a header.
  std::uint32_t element_bytes() const {
    return message_packets * element_bytes_of_packet() - header_bytes;
  }
  // Packets of a message with elements of so many bytes.
  std::uint32_t packets_for(std::size_t elements) const {
    const auto room = element_bytes_of_packet();
    return static_cast<std::uint32_t>((elements + header_bytes + room - 1) / room);
  }

 private:
  static constexpr std::uint32_t header_bytes = sizeof(wire::InaHeader);
  std::uint32_t element_bytes_of_packet() const {
    return mtu - static_cast<std::uint32_t>(wire::fingerprint_bytes);
  }
};

}  // namespace tributary::host
