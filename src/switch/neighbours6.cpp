// SPDX-License-Identifier: BSD-3-Clause
#include "switch/neighbours6.h"

#include <utility>

#include "wire/checksum.h"
#include "wire/ethernet.h"
#include "wire/ipv6.h"

namespace tributary::switching {
namespace {

using wire::IpAddress;
using wire::NeighbourMessage;

struct [[gnu::packed]] NeighbourFrame {
  wire::EthernetHeader ethernet;
  wire::Ipv6Header ip;
  NeighbourMessage message;
  wire::LinkAddressOption link;
};

std::uint32_t entries6_of(const SwitchConfig& config) {
  return config.arp_capacity + static_cast<std::uint32_t>(config.neighbours6.size());
}

// A link-local address that is wrong would be taken for another link's, as the table has them.
bool may_be_a_host(const IpAddress& address) {
  return !address.is_multicast() && !is_of_a_link_and_wrong(address);
}

// A message without a link-layer address is right, too.
bool may_be_a_station(const wire::MacAddress* address) {
  return address == nullptr || (!address->is_group() && !address->is_zero());
}

}  // namespace

Neighbours6::Neighbours6(const SwitchConfig& config, const Interfaces& interfaces, Bridge& bridge,
                         Outlet& outlet, CoreShare share, std::uint64_t seed)
    : Resolver(interfaces, bridge, outlet, share,
               Table(config.arp_timeout, seed, {.entries = entries6_of(config)}),
               {DropReason::nd_unresolved, DropReason::nd_queue_full}) {
  add_static(config);
}

void Neighbours6::add_static(const SwitchConfig& config) {
  for (const auto& entry : config.neighbours6) {
    const auto interface = interfaces_.connected_to(entry.address);
    if (interface != no_port) {
      table_.add_static(entry.address, entry.mac, interface);
    }
  }
}

void Neighbours6::reconfigure(const SwitchConfig& config) {
  table_.set_timeout(config.arp_timeout);
  table_.set_entries(entries6_of(config));
  const auto left = interface_in_another_vlan();
  table_.forget_if([=, this](const IpAddress& address, PortIndex interface) {
    const bool is_gone = address.is_link_local() ? !interfaces_.address6(interface)
                                                 : interfaces_.connected_to(address) != interface;
    return is_gone || interface == left;
  });
  table_.clear_static();
  add_static(config);
}

IpAddress Neighbours6::scoped(const IpAddress& address, PortIndex interface) {
  return address.is_link_local() ? IpAddress::of_halves(address.high() | interface, address.low())
                                 : address;
}

IpAddress Neighbours6::unscoped(const IpAddress& address) {
  return address.is_link_local()
             ? IpAddress::of_halves(address.high() & ~std::uint64_t{0xffff}, address.low())
             : address;
}

std::vector<forwarding::NeighbourRow6> Neighbours6::rows(Time now) const {
  auto rows = table_.rows(now);
  for (auto& row : rows) {
    row.address = unscoped(row.address);
  }
  return rows;
}

std::optional<Neighbours6::Message> Neighbours6::parse(const Datagram6& datagram,
                                                       const Carried6& carried) {
  wire::Cursor cursor(carried.payload);
  const auto* found = cursor.take<NeighbourMessage>();
  if (found == nullptr || found->icmp.code != 0 ||
      datagram.ip->hop_limit != NeighbourMessage::hop_limit) {
    return std::nullopt;
  }
  Message message;
  message.is_solicitation = found->icmp.type == wire::Icmp6Header::neighbour_solicitation;
  message.source = datagram.source;
  message.destination = datagram.destination;
  message.target = IpAddress(found->target);
  message.flags = message.is_solicitation ? 0 : found->icmp.rest.value();
  message.frame_source = datagram.ethernet->source;
  const auto wanted = message.is_solicitation ? wire::LinkAddressOption::of_source
                                              : wire::LinkAddressOption::of_target;
  if (!find_link(cursor.rest(), wanted, message.link) || !may_be_a_station(message.link) ||
      !may_be_a_host(message.source) || !may_be_a_host(message.target) ||
      message.target.is_unspecified()) {
    return std::nullopt;
  }
  // A host that has no address yet asks whether somebody else has it, and is answered by the group.
  const bool is_of_nobody = message.source.is_unspecified();
  const bool is_sound =
      message.is_solicitation
          ? !is_of_nobody || (message.link == nullptr &&
                              message.destination == wire::solicited_nodes(message.target))
          : !is_of_nobody && !(message.destination.is_multicast() &&
                               (message.flags & NeighbourMessage::is_solicited) != 0);
  return is_sound ? std::optional(message) : std::nullopt;
}

// An advertisement without the override flag is not to replace what is known.
bool Neighbours6::is_known_otherwise(const Message& message, PortIndex interface, Time now) {
  if (message.is_solicitation || (message.flags & NeighbourMessage::overrides) != 0) {
    return false;
  }
  const auto* known = table_.find(scoped(message.target, interface), now).mac;
  return known != nullptr && *known != *message.link;
}

bool Neighbours6::learn(const Message& message, PortIndex interface, Time now) {
  const auto& own = interfaces_.address6(interface);
  const auto& who = message.is_solicitation ? message.source : message.target;
  const bool credible = own && message.link != nullptr && !interfaces_.answers(interface, who) &&
                        (who.is_link_local() || forwarding::contains(prefix_of(*own), who)) &&
                        !is_known_otherwise(message, interface, now);
  if (!credible) {
    return false;
  }
  const bool for_us = interfaces_.answers(
      interface, message.is_solicitation ? message.target : message.destination);
  return table_.learn(scoped(who, interface), *message.link, interface, for_us, now);
}

bool Neighbours6::is_neighbour_discovery(const Carried6& carried) {
  const auto type = icmp6_type(carried);
  return type == wire::Icmp6Header::neighbour_solicitation ||
         type == wire::Icmp6Header::neighbour_advertisement;
}

bool Neighbours6::receive(const Packet& frame, const Message& message, PortIndex interface,
                          Time now) {
  const bool fresh = learn(message, interface, now);
  const bool for_us = interfaces_.answers(
      interface, message.is_solicitation ? message.target : message.destination);
  // An answer may be for another core, which this one cannot know.
  if (fresh || (for_us && !message.is_solicitation)) {
    outlet_.publish(frame);
  }
  if (for_us && message.is_solicitation) {
    answer(message, interface, now);
  }
  return for_us;
}

void Neighbours6::learn_quietly(const Packet& frame, PortIndex interface, Time now) {
  auto datagram = parse_ipv6(const_cast<Packet&>(frame));
  const auto carried = datagram ? carried_by(*datagram) : std::nullopt;
  if (carried && is_neighbour_discovery(*carried) && is_sound_icmp6(*datagram, *carried)) {
    if (const auto message = parse(*datagram, *carried)) {
      learn(*message, interface, now);
    }
  }
}

void Neighbours6::ask(const Question& question, Time now) {
  const auto& own = interfaces_.address6(question.interface);
  if (!own || !interfaces_.is_up(question.interface)) {
    return;
  }
  const auto target = unscoped(question.address);
  const auto group = wire::solicited_nodes(target);
  const auto source =
      target.is_link_local() ? interfaces_.link_local(question.interface) : own->address;
  send_message({wire::Icmp6Header::neighbour_solicitation, 0, wire::LinkAddressOption::of_source,
                source, group, target},
               question.interface, wire::group_mac_of(group), now);
}

void Neighbours6::answer(const Message& question, PortIndex interface, Time now) {
  const bool to_all = question.source.is_unspecified();
  const auto solicited = to_all ? 0u : NeighbourMessage::is_solicited;
  const auto destination = to_all ? wire::all_nodes : question.source;
  const auto mac = to_all                     ? wire::group_mac_of(wire::all_nodes)
                   : question.link != nullptr ? *question.link
                                              : question.frame_source;
  send_message({wire::Icmp6Header::neighbour_advertisement,
                NeighbourMessage::is_router | NeighbourMessage::overrides | solicited,
                wire::LinkAddressOption::of_target, question.target, destination, question.target},
               interface, mac, now);
}

void Neighbours6::announce(PortIndex interface, Time now) {
  const auto& own = interfaces_.address6(interface);
  if (!own) {
    return;
  }
  announce(own->address, interface, now);
  const auto& of_switch = interfaces_.switch_address6();
  if (of_switch && *of_switch != own->address &&
      forwarding::contains(prefix_of(*own), *of_switch)) {
    announce(*of_switch, interface, now);
  }
}

void Neighbours6::announce(const wire::IpAddress& address, PortIndex interface, Time now) {
  send_message({wire::Icmp6Header::neighbour_advertisement,
                NeighbourMessage::is_router | NeighbourMessage::overrides,
                wire::LinkAddressOption::of_target, address, wire::all_nodes, address},
               interface, wire::group_mac_of(wire::all_nodes), now);
}

void Neighbours6::send_message(const Statement& statement, PortIndex interface,
                               const wire::MacAddress& destination, Time now) {
  auto packet = outlet_.originate();
  if (!packet) {
    return;
  }
  if (packet->tailroom() < sizeof(NeighbourFrame)) {
    outlet_.drop(std::move(packet), DropReason::no_buffer, Account::originated);
    return;
  }
  packet->length = sizeof(NeighbourFrame);
  auto& frame = *wire::MutableCursor(packet->bytes()).take<NeighbourFrame>();
  frame = {};
  frame.ethernet.type = wire::ethertype::ipv6;
  frame.ip.payload_length = sizeof frame.message + sizeof frame.link;
  frame.ip.next_header = wire::ipv6_next::icmp;
  frame.ip.hop_limit = NeighbourMessage::hop_limit;
  frame.ip.source = statement.source.octets();
  frame.ip.destination = statement.destination.octets();
  frame.message.icmp.type = statement.type;
  frame.message.icmp.rest = statement.flags;
  frame.message.target = statement.target.octets();
  frame.link.type = statement.option;
  frame.link.mac = interfaces_.mac(interface);
  frame.message.icmp.checksum = wire::transport_checksum(
      frame.ip, packet->bytes().last(sizeof frame.message + sizeof frame.link));
  transmit(std::move(packet), interface, destination, Account::originated, now);
}

}  // namespace tributary::switching
