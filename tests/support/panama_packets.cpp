// SPDX-License-Identifier: BSD-3-Clause
#include "support/panama_packets.h"

#include <algorithm>
#include <cstring>

#include "wire/checksum.h"
#include "wire/transport.h"

namespace tributary::test {
namespace {

constexpr std::size_t headers_before_panama =
    sizeof(wire::EthernetHeader) + sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader);

template <typename Header>
void append(Packet& packet, const Header& header) {
  std::memcpy(packet.data() + packet.length, &header, sizeof header);
  packet.length += static_cast<std::uint32_t>(sizeof header);
}

wire::PanamaHeader header_of(const PanamaSpec& spec, std::size_t payload_bytes) {
  wire::PanamaHeader header;
  header.job = spec.job;
  header.tree = spec.tree;
  header.wnd_cap = spec.wnd_cap;
  header.vid = spec.vid;
  header.flags = wire::PanamaHeader::current_version;
  header.flags |= spec.fin ? wire::PanamaHeader::fin_bit : 0;
  header.flags |= spec.retransmission ? wire::PanamaHeader::retransmission_bit : 0;
  header.flags |= spec.answer ? wire::PanamaHeader::answer_bit : 0;
  header.kind = spec.kind;
  header.element_type = spec.type;
  header.op = spec.op;
  header.run = spec.run;
  header.epoch = spec.epoch;
  header.elements = static_cast<std::uint16_t>(payload_bytes / wire::element_bytes(spec.type));
  header.contributions = spec.contributions;
  header.workers = spec.workers;
  header.rank = spec.rank;
  header.fingerprint = spec.fingerprint;
  return header;
}

wire::Ipv4Header ip_of(const PanamaSpec& spec, std::size_t udp_bytes) {
  wire::Ipv4Header ip;
  ip.tos = spec.tos;
  ip.total_length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
  ip.fragment = wire::Ipv4Header::dont_fragment;
  ip.ttl = spec.ttl;
  ip.protocol = wire::ip_protocol::udp;
  ip.source = spec.source;
  ip.destination = spec.group;
  wire::finish_ipv4(ip);
  return ip;
}

}  // namespace

PacketPtr make_panama(PacketPool& pool, const PanamaSpec& spec,
                      std::span<const std::byte> payload) {
  auto packet = pool.allocate();
  if (packet == nullptr) {
    return packet;
  }
  auto header = header_of(spec, payload.size());
  wire::seal(header, payload);
  const auto udp_bytes = sizeof(wire::UdpHeader) + sizeof header + payload.size();
  append(*packet, wire::EthernetHeader{wire::multicast_mac(spec.group), spec.source_mac,
                                       wire::be16(wire::ethertype::ipv4)});
  append(*packet, ip_of(spec, udp_bytes));
  wire::UdpHeader udp;
  udp.source_port = wire::source_port_of(wire::panama_key(spec.job, spec.tree));
  udp.destination_port = spec.udp_port;
  udp.length = static_cast<std::uint16_t>(udp_bytes);
  append(*packet, udp);
  append(*packet, header);
  std::copy(payload.begin(), payload.end(), packet->data() + packet->length);
  packet->length += static_cast<std::uint32_t>(payload.size());
  packet->ingress = spec.ingress;
  return packet;
}

wire::PanamaHeader* panama_header(Packet& packet) {
  wire::MutableCursor cursor(packet.bytes());
  return cursor.skip(headers_before_panama) ? cursor.take<wire::PanamaHeader>() : nullptr;
}

void reseal_panama(Packet& packet) {
  auto* header = panama_header(packet);
  if (header == nullptr ||
      static_cast<std::size_t>(header->element_type) >= wire::element_type_count) {
    return;
  }
  const auto bytes = header->elements.value() * wire::element_bytes(header->element_type);
  const auto payload = packet.bytes().subspan(headers_before_panama + sizeof *header);
  if (payload.size() >= bytes) {
    wire::seal(*header, payload.first(bytes));
  }
}

}  // namespace tributary::test
