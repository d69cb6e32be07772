// SPDX-License-Identifier: BSD-3-Clause
#include "support/roce_packets.h"

#include <cstring>

#include "support/frames.h"

namespace tributary::test {
namespace {

std::uint32_t icrc_of(Packet& packet) {
  const auto frame = engine::parse_frame(packet);
  const auto& ip = *frame.ipv4;
  return wire::icrc_of(std::as_bytes(std::span(&ip, 1)), *frame.udp,
                       frame.payload.first(frame.payload.size() - wire::icrc_bytes));
}

}  // namespace

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
  packet = make_udp(
      pool,
      {mac(static_cast<std::uint8_t>(spec.source.value())),
       mac(static_cast<std::uint8_t>(spec.destination.value())), spec.source, spec.destination},
      0xc112, wire::roce_udp_port, bytes);
  packet->ingress = spec.ingress;
  auto& udp = l4_header<wire::UdpHeader>(*packet);
  udp.checksum = std::uint16_t{0};
  wire::MutableCursor cursor(l4_of(*packet).subspan(sizeof udp));
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
  const auto payload = engine::parse_frame(packet).payload;
  wire::store_icrc(payload.data() + payload.size() - wire::icrc_bytes, icrc_of(packet));
}

bool has_right_icrc(Packet& packet) {
  const auto payload = engine::parse_frame(packet).payload;
  return wire::load_icrc(payload.data() + payload.size() - wire::icrc_bytes) == icrc_of(packet);
}

wire::RoceView roce_of(Packet& packet) {
  return wire::parse_roce(engine::parse_frame(packet).payload);
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
