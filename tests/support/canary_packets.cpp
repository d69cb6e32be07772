// SPDX-License-Identifier: BSD-3-Clause
#include "support/canary_packets.h"

#include <algorithm>
#include <cstring>

#include "engine/frame.h"
#include "wire/checksum.h"
#include "wire/transport.h"

namespace tributary::test {
namespace {

template <typename Header>
void append(Packet& packet, const Header& header) {
  std::memcpy(packet.data() + packet.length, &header, sizeof header);
  packet.length += static_cast<std::uint32_t>(sizeof header);
}

wire::CanaryHeader header_of(const CanarySpec& spec, std::size_t payload_bytes) {
  wire::CanaryHeader header;
  header.destination = spec.destination;
  header.id = spec.id;
  header.counter = spec.counter;
  header.hosts = spec.hosts;
  header.children = spec.children;
  header.switch_address = spec.switch_address;
  header.flags = wire::CanaryHeader::current_version;
  if (spec.bypass) {
    header.flags |= wire::CanaryHeader::bypass_bit;
  }
  if (spec.congested) {
    header.flags |= wire::CanaryHeader::congested_bit;
  }
  if (spec.kind == wire::CanaryKind::result || spec.kind == wire::CanaryKind::restoration ||
      spec.kind == wire::CanaryKind::release) {
    header.flags |= wire::CanaryHeader::multicast_bit;
  }
  header.kind = spec.kind;
  header.element_type = spec.type;
  header.op = spec.op;
  header.shard = spec.shard;
  header.job = spec.job;
  header.elements = static_cast<std::uint16_t>(payload_bytes / wire::element_bytes(spec.type));
  header.child_port = spec.child_port;
  header.fingerprint = spec.fingerprint;
  header.child_address = spec.child_address;
  header.switch_ipv4 = spec.switch_ipv4;
  header.child_mac = spec.child_mac;
  header.rank = spec.rank;
  return header;
}

void append_udp(Packet& packet, const CanarySpec& spec, std::uint64_t key, std::size_t bytes) {
  const auto udp_bytes = sizeof(wire::UdpHeader) + bytes;
  wire::Ipv4Header ip;
  ip.total_length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
  ip.tos = spec.tos;
  ip.ttl = spec.ttl;
  ip.protocol = wire::ip_protocol::udp;
  ip.source = spec.ip_source.is_unspecified() ? spec.child_address : spec.ip_source;
  ip.destination = spec.destination;
  wire::finish_ipv4(ip);
  append(packet, ip);
  wire::UdpHeader udp;
  udp.source_port = wire::source_port_of(key);
  udp.destination_port = spec.udp_port;
  udp.length = static_cast<std::uint16_t>(udp_bytes);
  append(packet, udp);
}

std::size_t headers_before_canary(const Packet& packet) {
  wire::Cursor cursor(packet.bytes());
  const auto* ethernet = cursor.take<wire::EthernetHeader>();
  const bool is_bare = ethernet != nullptr && ethernet->type.value() == wire::ethertype::canary;
  return sizeof(wire::EthernetHeader) +
         (is_bare ? 0 : sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader));
}

}  // namespace

std::uint16_t valid_counter(wire::CanaryKind kind, std::uint16_t hosts) {
  switch (kind) {
    case wire::CanaryKind::contribution:
      return 1;
    case wire::CanaryKind::result:
    case wire::CanaryKind::restoration:
      return hosts;
    default:
      return 0;
  }
}

bool is_without_payload(wire::CanaryKind kind) {
  return kind == wire::CanaryKind::request || kind == wire::CanaryKind::failure ||
         kind == wire::CanaryKind::release;
}

PacketPtr make_canary(PacketPool& pool, const CanarySpec& spec,
                      std::span<const std::byte> payload) {
  auto packet = pool.allocate();
  if (packet == nullptr) {
    return packet;
  }
  auto header = header_of(spec, payload.size());
  const bool is_udp = spec.encapsulation == wire::Encapsulation::udp;
  wire::EthernetHeader ethernet;
  ethernet.destination = spec.destination_mac;
  ethernet.source = spec.source_mac;
  ethernet.type = is_udp ? wire::ethertype::ipv4 : wire::ethertype::canary;
  append(*packet, ethernet);
  if (is_udp) {
    append_udp(*packet, spec, header.key(), sizeof header + payload.size());
  }
  wire::seal(header, payload);
  append(*packet, header);
  std::copy(payload.begin(), payload.end(), packet->data() + packet->length);
  packet->length += static_cast<std::uint32_t>(payload.size());
  packet->ingress = spec.ingress;
  return packet;
}

wire::CanaryHeader* canary_header(Packet& packet) {
  wire::MutableCursor cursor(packet.bytes());
  return cursor.skip(headers_before_canary(packet)) ? cursor.take<wire::CanaryHeader>() : nullptr;
}

void reseal(Packet& packet) {
  auto* header = canary_header(packet);
  if (header == nullptr ||
      static_cast<std::size_t>(header->element_type) >= wire::element_type_count) {
    return;
  }
  const auto bytes = header->elements.value() * wire::element_bytes(header->element_type);
  const auto payload = packet.bytes().subspan(headers_before_canary(packet) + sizeof *header);
  if (payload.size() >= bytes) {
    wire::seal(*header, payload.first(bytes));
  }
}

}  // namespace tributary::test
