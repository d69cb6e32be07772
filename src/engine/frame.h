// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/packet.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::engine {

// A Frame tells where the headers of one frame lie, found once when it is received. Code behind the
// parser never sees an unchecked header: what is not there, or not whole, is null.
struct Frame {
  wire::EthernetHeader* ethernet = nullptr;
  wire::Ipv4Header* ipv4 = nullptr;  // version, lengths checked; header checksum not
  wire::UdpHeader* udp = nullptr;    // set for unfragmented UDP whose length fits
  wire::MutableBytes payload;        // behind the innermost header that is set
};

namespace detail {

inline void parse_udp(Frame& frame) {
  wire::MutableCursor cursor(frame.payload);
  auto* udp = cursor.take<wire::UdpHeader>();
  if (udp == nullptr || udp->length.value() < sizeof(wire::UdpHeader) ||
      udp->length.value() > frame.payload.size()) {
    return;
  }
  frame.udp = udp;
  frame.payload = cursor.rest().first(udp->length.value() - sizeof(wire::UdpHeader));
}

inline void parse_ipv4(Frame& frame) {
  wire::MutableCursor cursor(frame.payload);
  auto* ip = cursor.take<wire::Ipv4Header>();
  if (ip == nullptr || ip->version() != 4 || ip->header_bytes() < sizeof(wire::Ipv4Header) ||
      ip->total_length.value() < ip->header_bytes() ||
      ip->total_length.value() > frame.payload.size()) {
    return;
  }
  frame.ipv4 = ip;
  const auto header_bytes = ip->header_bytes();
  frame.payload = frame.payload.subspan(header_bytes, ip->total_length.value() - header_bytes);
  if (ip->protocol == wire::ip_protocol::udp && !ip->is_fragment()) {
    parse_udp(frame);
  }
}

}  // namespace detail

// Parses `packet`. An IPv4 packet with impossible lengths has ethernet set and ipv4 null.
inline Frame parse_frame(Packet& packet) {
  Frame frame;
  wire::MutableCursor cursor(packet.bytes());
  frame.ethernet = cursor.take<wire::EthernetHeader>();
  frame.payload = cursor.rest();
  if (frame.ethernet != nullptr && frame.ethernet->type.value() == wire::ethertype::ipv4) {
    detail::parse_ipv4(frame);
  }
  return frame;
}

// A core notes what it found in a frame for another that goes on with it. Packet::l4_offset is
// where the part behind the IPv4 header starts in the frame, or 0 if there is no sound IPv4 header;
// Packet::noted consists of these bits.
namespace noted {
inline constexpr std::uint8_t parsed = 0x80;     // without it, nothing is noted
inline constexpr std::uint8_t udp = 0x40;        // Frame::udp is set
inline constexpr std::uint8_t elsewhere = 0x20;  // another core owns its block
inline constexpr std::uint8_t claims = 0x0f;     // who claims the frame; 0: nobody
}  // namespace noted

// Notes `frame`, which is what parse_frame() made of `packet` and has an Ethernet header.
inline void note(Packet& packet, const Frame& frame, std::uint8_t claim) {
  const auto transport =
      frame.ipv4 != nullptr ? sizeof(wire::EthernetHeader) + frame.ipv4->header_bytes() : 0;
  packet.l4_offset = static_cast<std::uint8_t>(transport);
  packet.noted =
      static_cast<std::uint8_t>(noted::parsed | (frame.udp != nullptr ? noted::udp : 0) | claim);
}
// Notes the claim of a packet that is no frame, such as a partial sum.
inline void note_claim(Packet& packet, std::uint8_t claim) {
  packet.noted = static_cast<std::uint8_t>(noted::parsed | claim);
}
inline std::uint8_t noted_claim(const Packet& packet) {
  return static_cast<std::uint8_t>(packet.noted & noted::claims);
}

// Returns what parse_frame() returned when it was noted. Nothing is checked again: neither the
// packet's bytes nor where it begins and ends may have changed since, nor may its sender still
// reach them.
inline Frame noted_frame(Packet& packet) {
  auto* start = packet.data();
  Frame frame;
  frame.ethernet = reinterpret_cast<wire::EthernetHeader*>(start);
  if (packet.l4_offset == 0) {
    frame.payload = packet.bytes().subspan(sizeof(wire::EthernetHeader));
    return frame;
  }
  frame.ipv4 = reinterpret_cast<wire::Ipv4Header*>(start + sizeof(wire::EthernetHeader));
  auto* transport = start + packet.l4_offset;
  if ((packet.noted & noted::udp) != 0) {
    frame.udp = reinterpret_cast<wire::UdpHeader*>(transport);
    frame.payload = {transport + sizeof(wire::UdpHeader),
                     frame.udp->length.value() - sizeof(wire::UdpHeader)};
  } else {
    frame.payload = {transport, frame.ipv4->total_length.value() - frame.ipv4->header_bytes()};
  }
  return frame;
}

}  // namespace tributary::engine
