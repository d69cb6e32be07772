// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/message.h"

#include "wire/checksum.h"
#include "wire/crc32.h"

namespace tributary::canary {
namespace {

constexpr std::uint8_t initial_ttl = 64;

// Nothing that is sent here is ever short enough to need padding.
static_assert(sizeof(wire::EthernetHeader) + sizeof(wire::CanaryHeader) >=
              wire::ethernet_min_frame_bytes);

// Clears what only a colliding switch fills in.
void clear_restoration(wire::CanaryHeader& header) {
  header.children = std::uint32_t{0};
  header.shard = 0;
  header.switch_address = std::uint16_t{0};
  header.switch_ipv4 = wire::Ipv4Address{};
  header.child_mac = wire::MacAddress{};
}

// Leaves nothing behind the elements, and sets the lengths that say so.
void fit(Packet& packet, const Message& message) {
  const auto canary_bytes = sizeof(wire::CanaryHeader) + message.payload.size();
  if (message.is_udp()) {
    const auto udp_bytes = sizeof(wire::UdpHeader) + canary_bytes;
    message.udp->length = static_cast<std::uint16_t>(udp_bytes);
    message.udp->checksum = std::uint16_t{0};
    message.ipv4->total_length = static_cast<std::uint16_t>(sizeof(wire::Ipv4Header) + udp_bytes);
  }
  const auto header_at = reinterpret_cast<std::byte*>(message.header) - packet.data();
  packet.length = static_cast<std::uint32_t>(static_cast<std::size_t>(header_at) + canary_bytes);
}

void finish(Packet& packet, const Message& message) {
  fit(packet, message);
  if (message.is_udp()) {
    wire::finish_ipv4(*message.ipv4);
  }
  wire::reseal(*message.header);
}

void originate_from(const Message& message, const engine::SwitchIdentity& self) {
  if (message.is_udp()) {
    message.ipv4->source = self.address;
    message.udp->source_port = wire::source_port_of(message.header->key());
  }
}

}  // namespace

void address_straggler(Packet& packet, const Message& message, const engine::SwitchIdentity& self) {
  auto& header = *message.header;
  clear_restoration(header);
  header.child_address = self.address;
  // Switches take results by their own address whatever the port of the range.
  header.child_port = message.udp_port();
  header.rank = wire::CanaryHeader::no_rank;
  originate_from(message, self);
  finish(packet, message);
}

void address_partial_sum(Packet& packet, const Message& message,
                         const engine::SwitchIdentity& self) {
  if (message.is_udp()) {
    message.ipv4->ttl = initial_ttl;
  }
  message.header->payload_crc = wire::crc32(0, message.payload);
  address_straggler(packet, message, self);
}

void mark_collision(Packet& packet, const Message& message, const engine::SwitchIdentity& self,
                    PortIndex ingress) {
  constexpr auto ports_per_shard = wire::CanaryHeader::ports_per_shard;
  auto& header = *message.header;
  header.flags |= wire::CanaryHeader::bypass_bit;
  header.children = std::uint32_t{1} << (ingress % ports_per_shard);
  header.shard = static_cast<std::uint8_t>(ingress / ports_per_shard);
  header.switch_address = self.id;
  header.switch_ipv4 = self.address;
  header.child_mac = message.ethernet->source;
  finish(packet, message);
}

void prepare_result(Packet& packet, const Message& message, const engine::SwitchIdentity& self) {
  auto& header = *message.header;
  clear_restoration(header);
  if (header.kind == wire::CanaryKind::restoration) {
    header.kind = wire::CanaryKind::result;
  }
  header.rank = wire::CanaryHeader::no_rank;
  header.destination = wire::Ipv4Address{};
  header.child_address = wire::Ipv4Address{};
  header.child_port = std::uint16_t{0};
  originate_from(message, self);
  if (message.is_udp()) {
    message.ipv4->ttl = initial_ttl;
    message.ipv4->destination = wire::Ipv4Address{};
    message.udp->destination_port = std::uint16_t{0};
  }
  finish(packet, message);
}

engine::Path path_of(std::uint64_t key, wire::Ipv4Address leader) {
  const auto mixed = wire::mix_key(key, leader.value());
  return {static_cast<std::uint32_t>(mixed ^ (mixed >> 32)),
          wire::canary_sequence(static_cast<std::uint32_t>(key)), leader};
}

}  // namespace tributary::canary
