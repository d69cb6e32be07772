// SPDX-License-Identifier: BSD-3-Clause
#include "host/roce/packets.h"

#include <array>
#include <cstring>

#include "wire/crc32.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/transport.h"

namespace tributary::host::roce {
namespace {

constexpr std::size_t header_bytes_max =
    sizeof(wire::BthHeader) + sizeof(wire::RethHeader) + sizeof(wire::ImmediateHeader);
constexpr std::size_t notification_bytes = 16;  // reserved, behind the BTH

// Headers one behind the other.
class HeaderBytes {
 public:
  template <typename Header>
  void add(const Header* header) {
    if (header != nullptr) {
      std::memcpy(bytes_.data() + size_, header, sizeof *header);
      size_ += sizeof *header;
    }
  }
  wire::Bytes bytes() const { return {bytes_.data(), size_}; }

 private:
  std::array<std::byte, header_bytes_max> bytes_;
  std::size_t size_ = 0;
};

wire::Ipv4Header ipv4_header(const Endpoint& source, const Endpoint& destination,
                             std::size_t udp_bytes) {
  wire::Ipv4Header ip;
  ip.total_length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
  ip.fragment = wire::Ipv4Header::dont_fragment;
  ip.protocol = wire::ip_protocol::udp;
  ip.source = source.address;
  ip.destination = destination.address;
  return ip;
}
wire::Ipv6Header ipv6_header(const Endpoint& source, const Endpoint& destination,
                             std::size_t udp_bytes) {
  wire::Ipv6Header ip;
  ip.payload_length = static_cast<std::uint16_t>(udp_bytes);
  ip.next_header = wire::ip_protocol::udp;
  ip.source = source.ip().octets();
  ip.destination = destination.ip().octets();
  return ip;
}

template <typename IpHeader>
std::uint32_t icrc_behind(const IpHeader& ip, const wire::UdpHeader& udp, wire::Bytes head) {
  return wire::icrc_of(std::as_bytes(std::span(&ip, 1)), udp, head);
}

// Returns the ICRC of a packet whose headers are `head`, and whose payload follows.
std::uint32_t icrc_of(const Endpoint& source, const Endpoint& destination, wire::Bytes head,
                      wire::Bytes payload) {
  const auto udp_bytes = sizeof(wire::UdpHeader) + head.size() + payload.size() + wire::icrc_bytes;
  wire::UdpHeader udp;
  udp.source_port = source.port;
  udp.destination_port = destination.port;
  udp.length = static_cast<std::uint16_t>(udp_bytes);
  const auto of_head = source.prefix
                           ? icrc_behind(ipv6_header(source, destination, udp_bytes), udp, head)
                           : icrc_behind(ipv4_header(source, destination, udp_bytes), udp, head);
  return wire::crc32(of_head, payload);
}

void seal(Outbox& outbox, const Path& path, wire::Bytes head, wire::Bytes payload) {
  std::array<std::byte, wire::icrc_bytes> icrc;
  wire::store_icrc(icrc.data(), icrc_of(path.here.endpoint, path.there.endpoint, head, payload));
  outbox.push(path.there.endpoint, head, payload, icrc);
}

// Runs CRC-32 backwards: returns which change of a CRC becomes `change` by `bytes` further bytes.
std::uint32_t unwind(std::uint32_t change, std::size_t bytes) {
  struct Table {
    std::array<std::uint32_t, 256> entries{};
    std::array<std::uint8_t, 256> by_top_byte{};
    Table() {
      constexpr std::uint32_t polynomial = 0xedb88320;
      for (std::uint32_t i = 0; i < entries.size(); ++i) {
        auto entry = i;
        for (int bit = 0; bit < 8; ++bit) {
          entry = (entry >> 1) ^ ((entry & 1) != 0 ? polynomial : 0);
        }
        entries[i] = entry;
        by_top_byte[entry >> 24] = static_cast<std::uint8_t>(i);
      }
    }
  };
  static const Table table;
  for (; bytes > 0; --bytes) {
    const auto index = table.by_top_byte[change >> 24];
    change = ((change ^ table.entries[index]) << 8) | index;
  }
  return change;
}

}  // namespace

void send(Outbox& outbox, const Path& path, const Sending& sending) {
  auto bth = sending.bth;
  bth.destination_qp = path.there.qp;
  HeaderBytes head;
  head.add(&bth);
  head.add(sending.reth);
  head.add(sending.aeth);
  head.add(sending.immediate);
  seal(outbox, path, head.bytes(), sending.payload);
}

void send_congestion_notification(Outbox& outbox, const Path& path) {
  constexpr std::uint8_t becn = 0x40;
  constexpr std::array<std::byte, notification_bytes> reserved{};
  wire::BthHeader bth;
  bth.opcode = congestion_notification;
  bth.congestion = becn;
  bth.destination_qp = path.there.qp;
  HeaderBytes head;
  head.add(&bth);
  head.add(&reserved);
  seal(outbox, path, head.bytes(), {});
}

// An identification that is not known is 16 bits of which one value makes the ICRC right, if
// nothing else is wrong, for all but one in 65,536 errors.
bool has_right_icrc(wire::Bytes packet, const Endpoint& source, const Path& path) {
  if (packet.size() < sizeof(wire::BthHeader) + wire::icrc_bytes) {
    return false;
  }
  const auto covered = packet.first(packet.size() - wire::icrc_bytes);
  const auto change = icrc_of(source, path.here.endpoint, covered, {}) ^
                      wire::load_icrc(packet.data() + covered.size());
  if (change == 0 || !path.there.numbers_packets) {
    return change == 0;
  }
  constexpr std::size_t identification_at = 4;
  constexpr std::uint32_t identification_max = 0xffff;
  const auto behind = sizeof(wire::Ipv4Header) - identification_at + sizeof(wire::UdpHeader);
  return unwind(change, behind + covered.size()) <= identification_max;
}

std::optional<Reply> parse_reply(wire::Bytes packet) {
  wire::Cursor cursor(packet);
  const auto* const bth = cursor.take<wire::BthHeader>();
  const auto* const aeth = cursor.take<wire::AethHeader>();
  if (bth == nullptr || aeth == nullptr || bth->opcode != wire::RoceOpcode::acknowledge ||
      bth->version() != 0 || cursor.rest().size() != wire::icrc_bytes) {
    return std::nullopt;
  }
  return Reply{bth->psn.value(), *aeth};
}

}  // namespace tributary::host::roce
