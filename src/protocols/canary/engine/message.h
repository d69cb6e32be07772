// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engine/engine.h"
#include "packet/packet.h"
#include "protocols/canary/engine/children.h"
#include "protocols/canary/wire.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::canary {

// These are the headers of a Canary packet that passed every check and that this switch may
// rewrite: it has no IP options, so they are at fixed places. They point into the packet, which
// somebody else owns.
struct Message {
  wire::EthernetHeader* ethernet = nullptr;
  wire::Ipv4Header* ipv4 = nullptr;  // null directly over Ethernet
  wire::UdpHeader* udp = nullptr;    // null directly over Ethernet
  wire::CanaryHeader* header = nullptr;
  wire::MutableBytes payload;

  bool is_udp() const { return udp != nullptr; }
  wire::Encapsulation encapsulation() const {
    return is_udp() ? wire::Encapsulation::udp : wire::Encapsulation::ethernet;
  }
  engine::Frame frame() const {
    return {ethernet,
            ipv4,
            udp,
            {reinterpret_cast<std::byte*>(header), sizeof *header + payload.size()}};
  }
  // Returns whether a queue on the way was congested: one that marked this packet, or, as the
  // header has it, what is in it.
  bool congested() const {
    return header->congested() ||
           (ipv4 != nullptr && (ipv4->tos & wire::ecn::mask) == wire::ecn::ce);
  }
  std::uint16_t udp_port() const {
    return is_udp() ? udp->destination_port.value() : std::uint16_t{0};
  }
};

// This is a packet that adds to a block; whoever keeps it moves it away.
struct Contribution {
  PacketPtr& packet;
  const Message& message;

  const wire::CanaryHeader& header() const { return *message.header; }
};

// Returns the message in a packet that was checked before.
inline Message message_of(Packet& packet, wire::Encapsulation encapsulation) {
  Message message;
  auto* at = packet.data();
  const auto take = [&at](auto*& header) {
    header = reinterpret_cast<std::remove_reference_t<decltype(header)>>(at);
    at += sizeof *header;
  };
  take(message.ethernet);
  if (encapsulation == wire::Encapsulation::udp) {
    take(message.ipv4);
    take(message.udp);
  }
  take(message.header);
  message.payload = {
      at, message.header->elements.value() * wire::element_bytes(message.header->element_type)};
  return message;
}

// Returns what is remembered of a child's fingerprint.
inline std::uint32_t half_of(const wire::be64& fingerprint) {
  return static_cast<std::uint32_t>(fingerprint.value());
}

// Returns the port by which another switch has sent the contribution over the bridge, to a station
// that is not this switch; otherwise no_port.
inline PortIndex origin_of(const Contribution& in, const engine::SwitchIdentity& self) {
  const bool in_transit = in.header().rank.value() == wire::CanaryHeader::no_rank &&
                          self.is_in_transit(in.packet->ingress, in.message.ethernet->destination);
  return in_transit ? in.packet->ingress : no_port;
}

// Puts down the child that sent this, field by field: made elsewhere and copied, it would be read
// as a whole before its parts have left the store buffer.
inline void record(Child& child, const Contribution& in, PortIndex origin) {
  const auto& [packet, message] = in;
  const auto& header = *message.header;
  child.address = header.child_address;
  child.udp_port = header.child_port.value();
  child.port = packet->ingress;
  child.mac = message.ethernet->source;
  child.origin = origin;
  child.last_fingerprint = half_of(header.fingerprint);
}

// These rewrite packets. Each leaves a complete packet: lengths, IPv4 checksum and CRCs, no
// trailing bytes.

// A contribution goes on as this switch's own (3.1.1): a straggler, whose Time To Live is left
// alone so that no routing loop keeps it going for ever, or a partial sum, a packet of our making
// with other elements.
void address_straggler(Packet& packet, const Message& message, const engine::SwitchIdentity& self);
void address_partial_sum(Packet& packet, const Message& message,
                         const engine::SwitchIdentity& self);

// A contribution that cannot be stored goes to the leader, with what it needs to restore the
// subtree (3.2.1). Who the child is stays as the child wrote it.
void mark_collision(Packet& packet, const Message& message, const engine::SwitchIdentity& self,
                    PortIndex ingress);

// A result, the result in a restoration, or a release becomes what all children get: a complete
// packet, but for addresses and the port that are the child's, which are zero.
void prepare_result(Packet& packet, const Message& message, const engine::SwitchIdentity& self);

// Chooses among equal next hops. The choice depends on the block and the leader only, so that all
// switches of a level meet at the same root.
engine::Path path_of(std::uint64_t key, wire::Ipv4Address leader);
inline engine::Path path_of(const wire::CanaryHeader& header) {
  return path_of(header.key(), header.destination);
}

}  // namespace tributary::canary
