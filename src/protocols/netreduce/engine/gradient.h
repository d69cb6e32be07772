// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "engine/frame.h"
#include "protocols/netreduce/engine/aggregator.h"
#include "protocols/netreduce/engine/connection.h"
#include "protocols/netreduce/engine/middle.h"
#include "wire/crc32.h"
#include "wire/ipv6.h"
#include "wire/roce.h"

namespace tributary::netreduce {

// This is a packet of SEND or RDMA WRITE whose IP header has neither options nor extensions. It
// points into the packet, which somebody else owns.
struct RocePacket {
  wire::Bytes ip;  // empty: it is no such packet
  wire::UdpHeader* udp = nullptr;
  wire::RoceView roce;

  bool is_v6() const { return ip.size() == sizeof(wire::Ipv6Header); }  // IPv4's has no options
  ConnectionKey connection() const;
  bool is_write() const { return roce.bth->opcode >= wire::RoceOpcode::write_first; }
  std::uint32_t psn() const { return roce.bth->psn.value(); }
};
RocePacket roce_of(const engine::Frame& frame);

// Returns the same for a packet with such headers, which carries so many bytes.
inline RocePacket middle_of(MiddleHeaders& headers, const engine::Frame& frame,
                            std::size_t payload_bytes) {
  const auto behind = frame.payload.subspan(sizeof headers.bth);
  return {
      {reinterpret_cast<const std::byte*>(&headers), sizeof headers.ipv4},
      frame.udp,
      {&headers.bth, nullptr, nullptr, behind.first(payload_bytes), behind.data() + payload_bytes}};
}
// Returns the opcode of a packet from the middle of that message.
inline wire::RoceOpcode middle_opcode(const Message& message) {
  return message.is_write ? wire::RoceOpcode::write_middle : wire::RoceOpcode::send_middle;
}

bool has_right_icrc(const RocePacket& packet);

// Returns what the headers of a packet, up to its elements, contribute to its ICRC: the CRC is
// linear, so that with other elements the ICRC is this XOR their CRC-32. `joint` is for as many
// bytes as elements and fingerprint word have; it is null where there is none for that length.
// Returns no value if the ICRC is wrong.
std::optional<std::uint32_t> check_icrc(const RocePacket& packet, std::size_t header_bytes,
                                        const wire::Crc32Joint* joint);
// Does the same for a packet with such headers and this payload, with the joint of that length.
std::optional<std::uint32_t> check_icrc(const MiddleHeaders& headers, wire::Bytes payload,
                                        const wire::Crc32Joint& joint);

// Returns whether the packet can be the one `offset` behind the first of the message, by its opcode
// and its length.
bool fits(const RocePacket& packet, const Message& message, std::uint32_t offset);

// Returns whether it can be one behind the first of any message, by its length, in a ring with
// packets of up to `mtu` payload bytes.
bool may_be_gradient(const RocePacket& packet, std::uint32_t mtu);

// Gives the packet that sequence number, and the ICRC that it then needs.
void renumber(const RocePacket& packet, std::uint32_t psn);

// Returns what the packet is to have in common with those of the other ranks.
Shape shape_of(const RocePacket& packet, const Message& message, std::uint32_t offset);

// Gives the packet the elements and the fingerprint of `result`, behind what INA header it has, and
// the ICRC that it then needs. All else stays as its sender wrote it.
void rewrite(const RocePacket& packet, const Shape& shape, const std::byte* result);
// Does the same for a packet that waits, without reading its headers again.
void rewrite(const Waiting& waiting, const Aggregator& aggregator, const std::byte* result);

}  // namespace tributary::netreduce
