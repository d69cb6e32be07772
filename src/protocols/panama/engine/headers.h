// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/engine.h"
#include "engine/group_headers.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

// These headers stand before the elements of every packet that this engine sends.
struct [[gnu::packed]] Headers : engine::GroupHeaders {
  wire::PanamaHeader panama;

  wire::Bytes bytes() const { return std::as_bytes(std::span(this, 1)); }
};

// Returns the header of a packet that waits.
inline const wire::PanamaHeader& header_in(const Packet& packet) {
  return reinterpret_cast<const Headers*>(packet.data())->panama;
}

inline std::byte* elements_in(Packet& packet) {
  return packet.data() + sizeof(Headers);
}
// Returns the mask in a packet that waits.
inline wire::RankMask mask_in(const Packet& packet) {
  const auto& header = header_in(packet);
  const auto* const mask = packet.data() + sizeof(Headers) + header.elements_bytes();
  return wire::RankMask({mask, header.mask_bytes()});
}

// Returns whether two headers agree in what all packets of a VID have in common. Packets that
// differ cannot be added up, and no result is of another kind than its sum.
inline bool is_like(const wire::PanamaHeader& a, const wire::PanamaHeader& b) {
  return a.elements.value() == b.elements.value() && a.element_type == b.element_type &&
         a.op == b.op && a.fin() == b.fin();
}

// Makes a header neither ask nor answer; what it says of its epoch is left.
inline void clear_marks(wire::PanamaHeader& header) {
  header.flags &= static_cast<std::uint8_t>(
      ~(wire::PanamaHeader::retransmission_bit | wire::PanamaHeader::answer_bit));
}

// Options are not ours to rewrite, so packets with any are not taken.
inline bool is_addressed_to(const engine::Frame& frame, const TreeConfig& tree) {
  return frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
         frame.ipv4->destination == tree.group;
}

inline constexpr std::uint8_t tos_without_ecn = wire::panama_dscp << 2;

// Returns the headers of a tree's packets that begin at this switch, but for lengths, ECN and
// PANAMA's own header.
inline Headers headers_of(const TreeConfig& tree, const engine::SwitchIdentity& self) {
  Headers headers{engine::group_headers(tree.group, self, wire::panama_udp_port), {}};
  headers.udp.source_port = wire::source_port_of(wire::panama_key(tree.job, tree.tree));
  return headers;
}

// Fills in what depends on the packet; PANAMA's header is sealed already.
inline void address(Headers& headers, bool congested, std::size_t payload_bytes) {
  headers.ipv4.tos = tos_without_ecn | (congested ? wire::ecn::ce : wire::ecn::ect0);
  engine::finish_headers(headers, sizeof headers.panama + payload_bytes);
}

}  // namespace tributary::panama
