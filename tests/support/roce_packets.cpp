// SPDX-License-Identifier: BSD-3-Clause
#include "support/roce_packets.h"

#include <cstring>

#include "protocols/netreduce/engine/datagram.h"
#include "support/frames6.h"

namespace tributary::test {
namespace {

netreduce::Datagram datagram_of(Packet& packet) {
  return netreduce::datagram_of(engine::parse_frame(packet));
}

std::uint32_t icrc_of(const netreduce::Datagram& datagram) {
  return wire::icrc_of({datagram.ip, datagram.ip_bytes}, *datagram.udp,
                       datagram.payload.first(datagram.payload.size() - wire::icrc_bytes));
}

Endpoints ends_of(const RoceSpec& spec) {
  return {mac(static_cast<std::uint8_t>(spec.source.value())),
          mac(static_cast<std::uint8_t>(spec.destination.value())), spec.source, spec.destination};
}

// Makes a datagram with `bytes` bytes behind the UDP header.
PacketPtr make_v6_datagram(PacketPool& pool, const RoceSpec& spec, std::size_t bytes) {
  const auto ends = ends_of(spec);
  return make_udp6(
      pool,
      {ends.source_mac, ends.destination_mac, ipv6_of(spec.source), ipv6_of(spec.destination)}, 0,
      wire::roce_udp_port, bytes);
}

}  // namespace

wire::IpAddress ipv6_of(wire::Ipv4Address address) {
  std::array<std::uint8_t, 16> octets = {0xfd, 0x00};
  std::memcpy(octets.data() + 12, &address, sizeof address);
  return wire::IpAddress(octets);
}

PacketPtr make_roce(PacketPool& pool, const RoceSpec& spec, wire::Bytes payload) {
  const std::size_t reth = wire::has_reth(spec.opcode) ? sizeof(wire::RethHeader) : 0;
  const std::size_t immediate =
      wire::has_immediate(spec.opcode) ? sizeof(wire::ImmediateHeader) : 0;
  const auto bytes = sizeof(wire::BthHeader) + reth + immediate + payload.size() + wire::icrc_bytes;
  auto packet = pool.allocate();
  if (packet == nullptr) {
    return nullptr;
  }
  packet.reset();
  packet = spec.is_v6 ? make_v6_datagram(pool, spec, bytes)
                      : make_udp(pool, ends_of(spec), 0, wire::roce_udp_port, bytes);
  packet->ingress = spec.ingress;
  const auto datagram = datagram_of(*packet);
  auto& udp = *datagram.udp;
  udp.source_port = std::uint16_t{0xc112};
  udp.destination_port = wire::roce_udp_port;
  udp.checksum = std::uint16_t{0};
  wire::MutableCursor cursor(datagram.payload);
  auto& bth = *cursor.take<wire::BthHeader>();
  bth = {};
  bth.opcode = spec.opcode;
  bth.destination_qp = spec.destination_qp;
  bth.psn = spec.psn;
  if (reth != 0) {
    auto& header = *cursor.take<wire::RethHeader>();
    header.address = 0x7f0000001000 + spec.source.value();
    header.key = spec.source.value() + 0x100;
    header.length = spec.length;
  }
  if (immediate != 0) {
    cursor.take<wire::ImmediateHeader>()->data = spec.source.value();
  }
  std::memcpy(cursor.rest().data(), payload.data(), payload.size());
  reseal_roce(*packet);
  return packet;
}

void reseal_roce(Packet& packet) {
  const auto datagram = datagram_of(packet);
  wire::store_icrc(datagram.payload.last(wire::icrc_bytes).data(), icrc_of(datagram));
}

bool has_right_icrc(Packet& packet) {
  const auto datagram = datagram_of(packet);
  return wire::load_icrc(datagram.payload.last(wire::icrc_bytes).data()) == icrc_of(datagram);
}

wire::RoceView roce_of(Packet& packet) {
  const auto datagram = datagram_of(packet);
  return datagram.ip != nullptr ? wire::parse_roce(datagram.payload) : wire::RoceView{};
}

wire::RoceOpcode roce_opcode(bool is_send, bool first, bool last, bool immediate) {
  using enum wire::RoceOpcode;
  if (first && last) {
    return is_send ? (immediate ? send_only_immediate : send_only)
                   : (immediate ? write_only_immediate : write_only);
  }
  if (first) {
    return is_send ? send_first : write_first;
  }
  if (last) {
    return is_send ? (immediate ? send_last_immediate : send_last)
                   : (immediate ? write_last_immediate : write_last);
  }
  return is_send ? send_middle : write_middle;
}

wire::InaHeader ina_of(const GradientSpec& spec, std::uint32_t mtu) {
  wire::InaHeader header;
  header.tag = wire::InaHeader::current_tag;
  header.ring = spec.ring;
  header.message = spec.message;
  header.length = spec.length;
  header.run = spec.run;
  header.packets = static_cast<std::uint16_t>(wire::ina_packets(spec.length, mtu));
  header.rank = spec.rank;
  header.world = spec.world;
  header.element_type = spec.type;
  header.op = spec.op;
  return header;
}

}  // namespace tributary::test
