// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "engine/frame.h"
#include "engines/netreduce/aggregator.h"
#include "engines/netreduce/connection.h"
#include "wire/ipv6.h"
#include "wire/roce.h"

namespace tributary::netreduce {

// A packet of SEND or RDMA WRITE, whose IP header has neither options nor extensions. Points into
// the packet, which somebody else owns.
struct RocePacket {
  wire::Bytes ip;  // empty: none such
  wire::UdpHeader* udp = nullptr;
  wire::RoceView roce;

  bool is_v6() const { return ip.size() == sizeof(wire::Ipv6Header); }  // IPv4's has no options
  ConnectionKey connection() const;
  std::uint32_t psn() const { return roce.bth->psn.value(); }
};
RocePacket roce_of(const engine::Frame& frame);

bool has_right_icrc(const RocePacket& packet);

// Whether the packet can be the one `offset` behind the first of the message, by its opcode and its
// length.
bool fits(const RocePacket& packet, const Message& message, std::uint32_t offset,
          std::uint32_t mtu);

// What the packet is to have in common with those of the other ranks.
Shape shape_of(const RocePacket& packet, const Message& message, std::uint32_t offset);

// Gives the packet the elements and the fingerprint of `result`, behind what INA header it has, and
// the ICRC that it then needs. All else stays as its sender wrote it.
void rewrite(const RocePacket& packet, const Shape& shape, const std::byte* result);

// Makes the packet's elements and fingerprint the `result`.
void take(const RocePacket& packet, const Shape& shape, std::byte* result);

// Adds up the packets in the slots of `ranks`, a bit each, none of which is null, in the order of
// the ranks: the same sum whatever order they came in. `wide` is room for elements that are added
// in another format.
void reduce(std::span<const PacketPtr> slots, std::uint64_t ranks, const Shape& shape,
            std::byte* result, std::span<std::byte> wide);

}  // namespace tributary::netreduce
