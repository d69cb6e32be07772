// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocols/netreduce/wire.h"

namespace tributary::host {

// The ranks of a job and its switch agree on this about a ring.
struct NetReducePlan {
  std::uint32_t ring = 0;               // RingID
  std::uint32_t window = 2;             // the paper's N: messages that a rank may have open
  std::uint32_t message_packets = 170;  // of a full message
  std::uint32_t mtu = 1024;  // payload bytes of a packet: the path MTU of the queue pairs
  std::uint32_t run = 0;     // of the job, by the same queue pairs

  // Returns the slots of the link's memory in either direction: a message's slot is its number
  // modulo these.
  std::uint32_t slots() const { return 2 * window; }
  std::uint32_t message_bytes() const { return message_packets * mtu; }
  // Returns the bytes of the elements in a full message, where each element has `size` bytes. Each
  // packet has a fingerprint word, the first a header; none has a part of an element.
  std::uint32_t element_bytes(std::size_t size) const {
    return first_room(size) + (message_packets - 1) * room(size);
  }
  // Returns the packets of a message with so many bytes of elements.
  std::uint32_t packets_for(std::size_t elements, std::size_t size) const {
    const auto first = first_room(size);
    if (elements <= first) {
      return 1;
    }
    return 1 + static_cast<std::uint32_t>((elements - first + room(size) - 1) / room(size));
  }
  // Returns the bytes of that message, all packets but the last being full.
  std::uint32_t length_for(std::size_t elements, std::size_t size) const {
    const auto full = packets_for(elements, size) - 1;
    const auto in_full = full == 0 ? 0 : first_room(size) + (full - 1) * room(size);
    const auto header = full == 0 ? header_bytes : 0;
    return static_cast<std::uint32_t>(full * mtu + header + elements - in_full + word_bytes);
  }

 private:
  static constexpr std::uint32_t header_bytes = sizeof(wire::InaHeader);
  static constexpr std::uint32_t word_bytes = wire::fingerprint_bytes;

  static std::uint32_t whole(std::uint32_t bytes, std::size_t size) {
    return static_cast<std::uint32_t>(bytes / size * size);
  }
  std::uint32_t room(std::size_t size) const { return whole(mtu - word_bytes, size); }
  std::uint32_t first_room(std::size_t size) const {
    return whole(mtu - word_bytes - header_bytes, size);
  }
};

}  // namespace tributary::host
