// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "packet/clock.h"
#include "wire/cursor.h"

namespace tributary {

class PacketPool;

// A PortIndex numbers a port within its logical switch, in the order of the configuration.
using PortIndex = std::uint16_t;
inline constexpr PortIndex no_port = 0xffff;

// A Packet is a frame in one contiguous buffer, and its metadata. It is trivial on purpose: the
// data plane places it in the private area of an mbuf, so that turning one into the other is
// pointer arithmetic. Ownership is always a PacketPtr, the stock of a pool, or an intrusive list,
// through `next`.
//
// Multicast is by reference: the end of a frame that leaves may be the bytes of another packet, its
// `body`, which several such frames share and nobody changes any more. Only what leaves a switch
// has one; see PacketPool::share() and make_whole().
struct Packet {
  PacketPool* pool;          // where the packet returns to; belongs to the core that holds it
  std::byte* buffer;         // storage, `capacity` bytes
  Packet* next;              // link of the list that owns the packet; null if none does
  Packet* body;              // its bytes follow these, shared with other frames; or null
  std::uint32_t capacity;    // bytes of storage
  std::uint16_t offset;      // where the frame starts in `buffer`: the headroom
  std::uint8_t l4_offset;    // where what follows IPv4 starts; valid with `noted`
  std::uint8_t noted;        // noted for another core (engine/frame.h) until the frame is changed
  std::uint32_t length;      // bytes of the frame that are here, without check sequence
  PortIndex ingress;         // port of the logical switch it came in by
  PortIndex egress;          // port it leaves by, once that is decided
  Time queued_at;            // when it joined the queue that it waits in
  std::uint32_t driver_tag;  // for whoever drives the switch; never read below the data plane
  std::uint16_t vlan;        // in a bridge with VLANs, which has taken the tag off: its control
                             // field, with the VLAN that it belongs to (wire/vlan.h); 0: none yet
  bool over_ipv6;        // it came, and will leave, with a header of IPv6 in the place of the one
                         // of IPv4 that it has; without an IP header, it is routed as IPv6 is
                         // (switch/embedding.h)
  std::uint8_t marking;  // of a frame that came by a port that trusts tags: what its class goes by
                         // (forwarding/codepoint.h); 0: its codepoint

  std::byte* data() { return buffer + offset; }
  const std::byte* data() const { return buffer + offset; }
  // Returns the length of the whole frame in bytes, its body included.
  std::uint32_t frame_bytes() const { return length + (body != nullptr ? body->length : 0); }
  wire::MutableBytes bytes() { return {data(), length}; }
  wire::Bytes bytes() const { return {data(), length}; }
  // Fetches the headers to the cache, since they are about to be read.
  void prefetch() const {
    constexpr std::size_t cache_line = 64;
    __builtin_prefetch(data());
    __builtin_prefetch(data() + cache_line);
  }
  std::uint32_t tailroom() const { return capacity - offset - length; }
  // Keeps `left` bytes of the frame, beginning at byte `from`.
  void narrow_to(std::size_t from, std::size_t left) {
    offset = static_cast<std::uint16_t>(offset + from);
    length = static_cast<std::uint32_t>(left);
  }
};
static_assert(sizeof(Packet) <= 64, "the metadata fits one cache line of an mbuf's private area");

struct ReturnToPool {
  void operator()(Packet* packet) const noexcept;
};
using PacketPtr = std::unique_ptr<Packet, ReturnToPool>;

}  // namespace tributary
