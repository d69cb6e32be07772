// SPDX-License-Identifier: BSD-3-Clause
#include "switch/icmp6.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "wire/checksum.h"
#include "wire/ipv4.h"

namespace tributary::switching {
namespace {

constexpr std::size_t extensions_max = 8;
constexpr std::size_t quoted6_bytes_max =
    wire::ipv6_mtu_min - sizeof(wire::Ipv6Header) - sizeof(wire::Icmp6Header);

bool is_skipped(std::uint8_t next_header, const wire::Ipv6Extension& extension) {
  return next_header == wire::ipv6_next::hop_by_hop ||
         next_header == wire::ipv6_next::destination_options ||
         (next_header == wire::ipv6_next::routing && extension.segments_left == 0);
}

// Sums up an ICMPv6 message, whatever headers were before it.
std::uint16_t icmp6_checksum(wire::Ipv6Header ip, wire::Bytes message) {
  ip.next_header = wire::ipv6_next::icmp;
  return wire::transport_checksum(ip, message);
}

}  // namespace

std::optional<Datagram6> parse_ipv6(Packet& packet) {
  wire::MutableCursor cursor(packet.bytes());
  auto* ethernet = cursor.take<wire::EthernetHeader>();
  auto* ip = cursor.take<wire::Ipv6Header>();
  if (ethernet == nullptr || ip == nullptr || ip->version() != 6 ||
      ip->payload_length.value() > cursor.rest().size()) {
    return std::nullopt;
  }
  return Datagram6{ethernet, ip, cursor.rest().first(ip->payload_length.value()),
                   wire::IpAddress(ip->source), wire::IpAddress(ip->destination)};
}

std::optional<Carried6> carried_by(const Datagram6& datagram) {
  Carried6 carried{datagram.ip->next_header, datagram.payload,
                   offsetof(wire::Ipv6Header, next_header)};
  for (std::size_t i = 0; i <= extensions_max; ++i) {
    if (carried.next_header != wire::ipv6_next::hop_by_hop &&
        carried.next_header != wire::ipv6_next::destination_options &&
        carried.next_header != wire::ipv6_next::routing) {
      return carried;
    }
    wire::MutableCursor cursor(carried.payload);
    const auto* extension = cursor.take<wire::Ipv6Extension>();
    if (extension == nullptr || extension->bytes() > carried.payload.size()) {
      return std::nullopt;
    }
    if (!is_skipped(carried.next_header, *extension)) {
      return carried;
    }
    const auto before = datagram.payload.size() - carried.payload.size();
    carried = {extension->next_header, carried.payload.subspan(extension->bytes()),
               static_cast<std::uint32_t>(sizeof(wire::Ipv6Header) + before)};
  }
  return std::nullopt;
}

std::uint8_t icmp6_type(const Carried6& carried) {
  const auto* icmp = wire::Cursor(carried.payload).take<wire::Icmp6Header>();
  return carried.next_header == wire::ipv6_next::icmp && icmp != nullptr ? icmp->type
                                                                         : std::uint8_t{0};
}

bool is_sound_icmp6(const Datagram6& datagram, const Carried6& carried) {
  return carried.next_header == wire::ipv6_next::icmp &&
         carried.payload.size() >= sizeof(wire::Icmp6Header) &&
         icmp6_checksum(*datagram.ip, carried.payload) == 0;
}

bool find_link(wire::Bytes options, std::uint8_t type, const wire::MacAddress*& link) {
  constexpr std::size_t unit = 8;
  while (!options.empty()) {
    const auto* option = wire::Cursor(options).take<wire::LinkAddressOption>();
    if (option == nullptr || option->length == 0 || option->length * unit > options.size()) {
      return false;
    }
    if (option->type == type) {
      link = &option->mac;
    }
    options = options.subspan(option->length * unit);
  }
  return true;
}

bool may_answer_with_error(const Datagram6& about) {
  if (about.ethernet->destination.is_group() || about.source.is_unspecified() ||
      about.source.is_multicast() || about.destination.is_multicast()) {
    return false;
  }
  const auto carried = carried_by(about);
  if (!carried || carried->next_header != wire::ipv6_next::icmp) {
    return carried.has_value();
  }
  wire::MutableCursor cursor(carried->payload);
  const auto* icmp = cursor.take<wire::Icmp6Header>();
  return icmp != nullptr && icmp->type >= wire::Icmp6Header::echo_request &&
         icmp->type != wire::Icmp6Header::redirect;
}

bool make_icmp6_error(Packet& error, const Datagram6& about, const Icmp6Error& kind,
                      const wire::IpAddress& source) {
  const auto quoted = std::min<std::size_t>(about.bytes(), quoted6_bytes_max);
  const auto message_bytes = sizeof(wire::Icmp6Header) + quoted;
  const auto frame_bytes = sizeof(wire::EthernetHeader) + sizeof(wire::Ipv6Header) + message_bytes;
  if (error.tailroom() < frame_bytes) {
    return false;
  }
  error.length = static_cast<std::uint32_t>(frame_bytes);
  wire::MutableCursor cursor(error.bytes());
  auto* ethernet = cursor.take<wire::EthernetHeader>();
  *ethernet = {};
  ethernet->type = wire::ethertype::ipv6;
  auto* ip = cursor.take<wire::Ipv6Header>();
  *ip = {};
  ip->payload_length = static_cast<std::uint16_t>(message_bytes);
  ip->next_header = wire::ipv6_next::icmp;
  ip->source = source.octets();
  ip->destination = about.ip->source;
  const auto message = cursor.rest();
  auto* icmp = cursor.take<wire::Icmp6Header>();
  *icmp = {};
  icmp->type = kind.type;
  icmp->code = kind.code;
  icmp->rest = kind.rest;
  std::memcpy(cursor.rest().data(), about.ip, quoted);
  icmp->checksum = icmp6_checksum(*ip, message);
  return true;
}

void turn_into_echo_reply(Packet& packet, const Datagram6& datagram, const Carried6& carried) {
  auto answer = *datagram.ip;
  answer.payload_length = static_cast<std::uint16_t>(carried.payload.size());
  answer.next_header = wire::ipv6_next::icmp;
  answer.hop_limit = wire::Ipv6Header{}.hop_limit;
  std::swap(answer.source, answer.destination);
  auto& icmp = *reinterpret_cast<wire::Icmp6Header*>(carried.payload.data());
  icmp.type = wire::Icmp6Header::echo_reply;
  icmp.checksum = wire::update_checksum(icmp.checksum.value(),
                                        std::uint16_t{wire::Icmp6Header::echo_request} << 8,
                                        std::uint16_t{wire::Icmp6Header::echo_reply} << 8);
  const auto skipped = datagram.payload.size() - carried.payload.size();
  packet.narrow_to(skipped, packet.length - skipped);
  wire::MutableCursor cursor(packet.bytes());
  *cursor.take<wire::EthernetHeader>() = {};
  *cursor.take<wire::Ipv6Header>() = answer;
  reinterpret_cast<wire::EthernetHeader*>(packet.data())->type = wire::ethertype::ipv6;
}

}  // namespace tributary::switching
