// SPDX-License-Identifier: BSD-3-Clause
#include "switch/neighbours.h"

#include <cstring>
#include <utility>

#include "wire/ethernet.h"

namespace tributary::switching {
namespace {

// Static neighbours do not take the room of those that are asked for.
std::uint32_t entries_of(const SwitchConfig& config) {
  return config.arp_capacity + static_cast<std::uint32_t>(config.arp.size());
}

}  // namespace

Neighbours::Neighbours(const SwitchConfig& config, const Interfaces& interfaces, Bridge& bridge,
                       Outlet& outlet, CoreShare share, std::uint64_t seed)
    : Resolver(interfaces, bridge, outlet, share,
               Table(config.arp_timeout, seed, {.entries = entries_of(config)}),
               {DropReason::arp_unresolved, DropReason::arp_queue_full}) {
  add_static(config);
}

void Neighbours::add_static(const SwitchConfig& config) {
  for (const auto& entry : config.arp) {
    const auto interface = interfaces_.connected_to(entry.address);
    if (interface != no_port) {
      table_.add_static(entry.address, entry.mac, interface);
    }
  }
}

void Neighbours::reconfigure(const SwitchConfig& config) {
  table_.set_timeout(config.arp_timeout);
  table_.set_entries(entries_of(config));
  const auto left = interface_in_another_vlan();
  table_.forget_if([=, this](const wire::Ipv4Address& address, PortIndex interface) {
    return interfaces_.connected_to(address) != interface || interface == left;
  });
  table_.clear_static();
  add_static(config);
}

void Neighbours::send_arp(const wire::ArpHeader& arp, PortIndex interface,
                          const wire::MacAddress& destination, Time now) {
  auto packet = outlet_.originate();
  if (!packet) {
    return;
  }
  if (packet->tailroom() < wire::ethernet_min_frame_bytes) {
    outlet_.drop(std::move(packet), DropReason::no_buffer, Account::originated);
    return;
  }
  packet->length = wire::ethernet_min_frame_bytes;
  std::memset(packet->data(), 0, packet->length);
  wire::MutableCursor cursor(packet->bytes());
  cursor.take<wire::EthernetHeader>()->type = wire::ethertype::arp;
  *cursor.take<wire::ArpHeader>() = arp;
  transmit(std::move(packet), interface, destination, Account::originated, now);
}

void Neighbours::ask(const Question& question, Time now) {
  const auto& own = interfaces_.address(question.interface);
  if (!own || !interfaces_.is_up(question.interface)) {
    return;
  }
  wire::ArpHeader arp;
  arp.operation = wire::ArpHeader::request;
  arp.sender_mac = interfaces_.mac(question.interface);
  arp.sender_address = own->address;
  arp.target_address = question.address;
  send_arp(arp, question.interface, wire::broadcast_mac, now);
}

// The switch's own address is announced to hosts on whose prefix it is.
void Neighbours::announce(PortIndex interface, Time now) {
  const auto& own = interfaces_.address(interface);
  if (!own) {
    return;
  }
  announce(own->address, interface, now);
  const auto& of_switch = interfaces_.switch_address();
  if (!of_switch.is_unspecified() && of_switch != own->address &&
      forwarding::contains(forwarding::prefix_of(*own), of_switch)) {
    announce(of_switch, interface, now);
  }
}

// A request for the address, sent by its owner, announces it (RFC 5227, 2.3); nobody is to answer.
void Neighbours::announce(const wire::Ipv4Address& address, PortIndex interface, Time now) {
  wire::ArpHeader arp;
  arp.operation = wire::ArpHeader::request;
  arp.sender_mac = interfaces_.mac(interface);
  arp.sender_address = address;
  arp.target_address = address;
  send_arp(arp, interface, wire::broadcast_mac, now);
}

void Neighbours::answer(const wire::ArpHeader& request, PortIndex interface, Time now) {
  wire::ArpHeader arp;
  arp.operation = wire::ArpHeader::reply;
  arp.sender_mac = interfaces_.mac(interface);
  arp.sender_address = request.target_address;
  arp.target_mac = request.sender_mac;
  arp.target_address = request.sender_address;
  send_arp(arp, interface, request.sender_mac, now);
}

bool Neighbours::learn(const wire::ArpHeader& arp, PortIndex interface, Time now) {
  const auto& own = interfaces_.address(interface);
  const auto sender = arp.sender_address;
  const bool credible = own && !arp.sender_mac.is_group() && !arp.sender_mac.is_zero() &&
                        sender != own->address && sender != interfaces_.switch_address() &&
                        forwarding::contains(forwarding::prefix_of(*own), sender);
  if (!credible) {
    return false;
  }
  const bool for_us = interfaces_.answers(interface, arp.target_address);
  return table_.learn(sender, arp.sender_mac, interface, for_us, now);
}

bool Neighbours::receive(const Packet& frame, const wire::ArpHeader& arp, PortIndex interface,
                         Time now) {
  const bool fresh = learn(arp, interface, now);
  const bool for_us = interfaces_.answers(interface, arp.target_address);
  const bool is_reply = arp.operation.value() == wire::ArpHeader::reply;
  // A reply may answer the question of another core, which this one cannot know.
  if (fresh || (for_us && is_reply)) {
    outlet_.publish(frame);
  }
  if (for_us && arp.operation.value() == wire::ArpHeader::request && !arp.sender_mac.is_group()) {
    answer(arp, interface, now);
  }
  return for_us;
}

void Neighbours::learn_quietly(const wire::ArpHeader& arp, PortIndex interface, Time now) {
  learn(arp, interface, now);
}

}  // namespace tributary::switching
