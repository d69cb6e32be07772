// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/gradient.h"

#include <cassert>
#include <cstring>

#include "protocols/netreduce/engine/datagram.h"
#include "protocols/netreduce/wire.h"
#include "wire/checksum.h"

namespace tributary::netreduce {
namespace {

std::uint32_t icrc_of(const RocePacket& packet) {
  const auto* transport = reinterpret_cast<const std::byte*>(packet.roce.bth);
  return wire::icrc_of(packet.ip, *packet.udp,
                       {transport, static_cast<std::size_t>(packet.roce.icrc - transport)});
}

// Such an address would pass for that of IPv4 which it has (RFC 4291, 2.5.5.2).
bool has_mapped_address(const RocePacket& packet) {
  const auto [source, destination, qp] = packet.connection();
  return source.is_v4() || destination.is_v4();
}

// Nearly all senders write no checksum. Over IPv4 that is always allowed; over IPv6 a sender that
// writes one is taken to want one.
void renew_udp_checksum(const RocePacket& packet) {
  auto& udp = *packet.udp;
  if (udp.checksum.value() == 0) {
    return;
  }
  udp.checksum = std::uint16_t{0};
  if (packet.is_v6()) {
    const auto& ip = *reinterpret_cast<const wire::Ipv6Header*>(packet.ip.data());
    const auto sum = wire::transport_checksum(
        ip, {reinterpret_cast<const std::byte*>(&udp), udp.length.value()});
    udp.checksum = sum == 0 ? std::uint16_t{0xffff} : sum;
  }
}

}  // namespace

RocePacket roce_of(const engine::Frame& frame) {
  const auto datagram = datagram_of(frame);
  const bool has_options = frame.udp != nullptr && datagram.ip_bytes != sizeof(wire::Ipv4Header);
  if (datagram.ip == nullptr || has_options) {
    return {};
  }
  const auto roce = wire::parse_roce(datagram.payload);
  if (roce.bth == nullptr) {
    return {};
  }
  const RocePacket packet{{datagram.ip, datagram.ip_bytes}, datagram.udp, roce};
  return packet.is_v6() && has_mapped_address(packet) ? RocePacket{} : packet;
}

ConnectionKey RocePacket::connection() const {
  const auto qp = roce.bth->destination_qp.value();
  if (is_v6()) {
    const auto& v6 = *reinterpret_cast<const wire::Ipv6Header*>(ip.data());
    return {wire::IpAddress(v6.source), wire::IpAddress(v6.destination), qp};
  }
  const auto& v4 = *reinterpret_cast<const wire::Ipv4Header*>(ip.data());
  return {v4.source, v4.destination, qp};
}

bool has_right_icrc(const RocePacket& packet) {
  return icrc_of(packet) == wire::load_icrc(packet.roce.icrc);
}

bool fits(const RocePacket& packet, const Message& message, std::uint32_t offset) {
  const auto position = packet.roce.position();
  return packet.is_write() == message.is_write && wire::begins_message(position) == (offset == 0) &&
         wire::ends_message(position) == (offset + 1 == message.packets) &&
         packet.roce.bth->pad() == 0 &&
         packet.roce.payload.size() == wire::ina_payload_bytes(message.length, message.mtu, offset);
}

bool may_be_gradient(const RocePacket& packet, std::uint32_t mtu) {
  const auto bytes = packet.roce.payload.size();
  const bool is_last = wire::ends_message(packet.roce.position());
  return packet.roce.bth->pad() == 0 && bytes % wire::ina_alignment == 0 && bytes <= mtu &&
         (is_last ? bytes >= wire::fingerprint_bytes : wire::is_ring_mtu(bytes));
}

Shape shape_of(const RocePacket& packet, const Message& message, std::uint32_t offset) {
  return {message.element_type, message.op,
          offset == 0 ? static_cast<std::uint16_t>(sizeof(wire::InaHeader)) : std::uint16_t{0},
          static_cast<std::uint16_t>(packet.roce.payload.size())};
}

std::optional<std::uint32_t> check_icrc(const RocePacket& packet, std::size_t header_bytes,
                                        const wire::Crc32Joint* joint) {
  const auto* head = reinterpret_cast<const std::byte*>(packet.roce.bth);
  const auto* end = packet.roce.payload.data() + header_bytes;
  const wire::Bytes elements(end, static_cast<std::size_t>(packet.roce.icrc - end));
  const auto headers =
      wire::icrc_of(packet.ip, *packet.udp, {head, static_cast<std::size_t>(end - head)});
  const auto icrc = wire::crc32(headers, elements);
  if (icrc != wire::load_icrc(packet.roce.icrc)) {
    return std::nullopt;
  }
  return joint != nullptr ? (*joint)(headers, 0) : icrc ^ wire::crc32(0, elements);
}

std::optional<std::uint32_t> check_icrc(const MiddleHeaders& headers, wire::Bytes payload,
                                        const wire::Crc32Joint& joint) {
  const auto crc = wire::crc_of_ipv4_headers(reinterpret_cast<const std::byte*>(&headers));
  const bool is_right =
      wire::crc32(crc, payload) == wire::load_icrc(payload.data() + payload.size());
  return is_right ? std::optional(joint(crc, 0)) : std::nullopt;
}

void renumber(const RocePacket& packet, std::uint32_t psn) {
  packet.roce.bth->psn = psn;
  wire::store_icrc(packet.roce.icrc, icrc_of(packet));
  renew_udp_checksum(packet);
}

void rewrite(const RocePacket& packet, const Shape& shape, const std::byte* result) {
  assert(packet.roce.payload.size() == shape.payload_bytes);
  std::memcpy(packet.roce.payload.data() + shape.header_bytes, result + shape.header_bytes,
              shape.bytes());
  wire::store_icrc(packet.roce.icrc, icrc_of(packet));
  renew_udp_checksum(packet);
}

void rewrite(const Waiting& waiting, const Aggregator& aggregator, const std::byte* result) {
  const auto& shape = aggregator.shape;
  auto* elements = waiting.packet->data() + waiting.elements_offset;
  std::memcpy(elements, result + shape.header_bytes, shape.bytes());
  wire::store_icrc(elements + shape.bytes(), waiting.headers_icrc ^ aggregator.sum_crc);
  if (waiting.has_udp_checksum) {
    renew_udp_checksum(roce_of(engine::parse_frame(*waiting.packet)));
  }
}

}  // namespace tributary::netreduce
