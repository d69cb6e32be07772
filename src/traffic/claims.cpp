// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/claims.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <new>

#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/cursor.h"
#include "wire/icmp6.h"
#include "wire/ipv6.h"

namespace tributary::traffic {
namespace {

using wire::ArpHeader;
using wire::Icmp6Header;
using wire::IpAddress;
using wire::LinkAddressOption;
using wire::MacAddress;
using wire::NeighbourMessage;

struct [[gnu::packed]] ArpFrame {
  wire::EthernetHeader ethernet;
  ArpHeader arp;
};
struct [[gnu::packed]] NeighbourFrame {
  wire::EthernetHeader ethernet;
  wire::Ipv6Header ip;
  NeighbourMessage message;
};

template <typename Frame>
const Frame* frame_of(const Packet& packet, std::uint16_t type) {
  const auto* frame = wire::Cursor(packet.bytes()).take<Frame>();
  return frame != nullptr && frame->ethernet.type.value() == type ? frame : nullptr;
}

bool is_arp(const Packet& packet) {
  const auto* ethernet = wire::Cursor(packet.bytes()).take<wire::EthernetHeader>();
  return ethernet != nullptr && ethernet->type.value() == wire::ethertype::arp;
}

const NeighbourFrame* neighbour_frame_of(const Packet& packet) {
  const auto* frame = frame_of<NeighbourFrame>(packet, wire::ethertype::ipv6);
  const bool is_one = frame != nullptr && frame->ip.next_header == wire::ipv6_next::icmp &&
                      (frame->message.icmp.type == Icmp6Header::neighbour_solicitation ||
                       frame->message.icmp.type == Icmp6Header::neighbour_advertisement);
  return is_one ? frame : nullptr;
}

std::optional<Claim> claim_of(const ArpHeader& arp) {
  if (!arp.is_ethernet_ipv4()) {
    return std::nullopt;
  }
  return Claim{arp.operation.value() == ArpHeader::request, arp.sender_address, arp.sender_mac,
               arp.target_address};
}

// Returns the MAC address that an option of this type has.
std::optional<MacAddress> link_address(wire::Bytes options, std::uint8_t type) {
  while (options.size() >= sizeof(LinkAddressOption)) {
    LinkAddressOption option;
    std::memcpy(&option, options.data(), sizeof option);
    const std::size_t bytes = std::size_t{option.length} * 8;
    if (bytes == 0 || bytes > options.size()) {
      return std::nullopt;
    }
    if (option.type == type) {
      return option.mac;
    }
    options = options.subspan(bytes);
  }
  return std::nullopt;
}

std::optional<Claim> claim_of(const NeighbourFrame& frame, wire::Bytes packet) {
  const std::size_t bytes = frame.ip.payload_length.value();
  if (frame.ip.hop_limit != NeighbourMessage::hop_limit || bytes < sizeof frame.message ||
      bytes > packet.size() - offsetof(NeighbourFrame, message)) {
    return std::nullopt;
  }
  const auto options = packet.subspan(sizeof frame, bytes - sizeof frame.message);
  const IpAddress source(frame.ip.source);
  const IpAddress target(frame.message.target);
  if (frame.message.icmp.type == Icmp6Header::neighbour_advertisement) {
    const auto mac = link_address(options, LinkAddressOption::of_target);
    return mac ? std::optional(Claim{false, target, *mac, IpAddress(frame.ip.destination)})
               : std::nullopt;
  }
  // Who asks by a frame for one station may leave its MAC address out.
  const auto mac = link_address(options, LinkAddressOption::of_source);
  return Claim{true, source, mac.value_or(frame.ethernet.source), target};
}

void write_arp(Packet& packet, std::uint16_t operation, const MacAddress& to, const Claim& claim) {
  packet.length = std::max<std::uint32_t>(sizeof(ArpFrame), wire::ethernet_min_frame_bytes);
  std::memset(packet.data(), 0, packet.length);
  ArpFrame frame;
  frame.ethernet = {to, claim.mac, wire::be16(wire::ethertype::arp)};
  frame.arp.operation = operation;
  frame.arp.sender_mac = claim.mac;
  frame.arp.sender_address = claim.who.v4();
  frame.arp.target_mac = operation == ArpHeader::reply ? to : MacAddress{};
  frame.arp.target_address = claim.whom.v4();
  std::memcpy(packet.data(), &frame, sizeof frame);
}

// A Statement is a message of neighbour discovery, from `source` to `destination`.
struct Statement {
  std::uint8_t type = 0;
  std::uint32_t flags = 0;
  IpAddress source;
  IpAddress destination;
  IpAddress target;
  MacAddress mac;  // of the source
};

void write_statement(Packet& packet, const MacAddress& to, const Statement& statement) {
  struct [[gnu::packed]] Frame {
    NeighbourFrame head;
    LinkAddressOption link;
  };
  packet.length = sizeof(Frame);
  auto& frame = *new (packet.data()) Frame;
  frame.head.ethernet = {to, statement.mac, wire::be16(wire::ethertype::ipv6)};
  frame.head.ip.payload_length = sizeof frame.head.message + sizeof frame.link;
  frame.head.ip.next_header = wire::ipv6_next::icmp;
  frame.head.ip.hop_limit = NeighbourMessage::hop_limit;
  frame.head.ip.source = statement.source.octets();
  frame.head.ip.destination = statement.destination.octets();
  frame.head.message.icmp.type = statement.type;
  frame.head.message.icmp.rest = statement.flags;
  frame.head.message.target = statement.target.octets();
  frame.link.type = statement.type == Icmp6Header::neighbour_solicitation
                        ? LinkAddressOption::of_source
                        : LinkAddressOption::of_target;
  frame.link.mac = statement.mac;
  frame.head.message.icmp.checksum = wire::transport_checksum(
      frame.head.ip, packet.bytes().subspan(offsetof(NeighbourFrame, message)));
}

}  // namespace

bool is_claim(const Packet& packet) {
  return is_arp(packet) || neighbour_frame_of(packet) != nullptr;
}

std::optional<Claim> read_claim(const Packet& packet) {
  if (const auto* frame = neighbour_frame_of(packet)) {
    return claim_of(*frame, packet.bytes());
  }
  const auto* frame = frame_of<ArpFrame>(packet, wire::ethertype::arp);
  return frame != nullptr ? claim_of(frame->arp) : std::nullopt;
}

void write_announcement(Packet& packet, const IpAddress& who, const MacAddress& mac) {
  if (who.is_v4()) {
    return write_question(packet, who, mac, who);
  }
  write_statement(packet, wire::group_mac_of(wire::all_nodes),
                  {Icmp6Header::neighbour_advertisement, NeighbourMessage::overrides, who,
                   wire::all_nodes, who, mac});
}

void write_question(Packet& packet, const IpAddress& who, const MacAddress& mac,
                    const IpAddress& whom) {
  if (who.is_v4()) {
    return write_arp(packet, ArpHeader::request, wire::broadcast_mac, {true, who, mac, whom});
  }
  const auto group = wire::solicited_nodes(whom);
  write_statement(packet, wire::group_mac_of(group),
                  {Icmp6Header::neighbour_solicitation, 0, who, group, whom, mac});
}

void write_answer(Packet& packet, const Claim& question, const MacAddress& mac) {
  const auto& [asks, asker, asker_mac, target] = question;
  if (target.is_v4()) {
    return write_arp(packet, ArpHeader::reply, asker_mac, {false, target, mac, asker});
  }
  if (asker.is_unspecified()) {
    return write_announcement(packet, target, mac);
  }
  write_statement(
      packet, asker_mac,
      {Icmp6Header::neighbour_advertisement,
       NeighbourMessage::is_solicited | NeighbourMessage::overrides, target, asker, target, mac});
}

}  // namespace tributary::traffic
