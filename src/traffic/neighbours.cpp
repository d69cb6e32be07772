// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/neighbours.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "wire/arp.h"

namespace tributary::traffic {
namespace {

constexpr std::uint32_t arp_frame_bytes = sizeof(wire::EthernetHeader) + sizeof(wire::ArpHeader);

}  // namespace

Neighbours::Neighbours(const Stations& stations, PacketPool& pool)
    : stations_(stations), pool_(pool) {
  for (std::size_t port = 0; port < stations.ports(); ++port) {
    gateways_.push_back(stations.range(port).gateway_mac);
  }
}

void Neighbours::send(std::size_t most, Time now, Outbox& out) {
  for (; most > 0 && !announced(); --most) {
    announce(out);
  }
  if (!announced() || now < ask_at_) {
    return;
  }
  ask_at_ = never;
  for (std::size_t port = 0; port < stations_.ports(); ++port) {
    if (stations_.range(port).gateway && !gateways_[port]) {
      ask(port, out);
      ask_at_ = now + ask_again_after;
    }
  }
}

std::optional<wire::Ipv4Address> Neighbours::unresolved() const {
  for (std::size_t port = 0; port < stations_.ports(); ++port) {
    if (stations_.range(port).gateway && !gateways_[port]) {
      return stations_.range(port).gateway;
    }
  }
  return std::nullopt;
}

// An announcement is a request for one's own address (RFC 5227).
void Neighbours::announce(Outbox& out) {
  if (announce_index_ == stations_.range(announce_port_).count) {
    announce_index_ = 0;
    ++announce_port_;
    return;
  }
  send_request(announce_port_, announce_index_, stations_.address(announce_port_, announce_index_),
               out);
  ++announce_index_;
}

void Neighbours::ask(std::size_t port, Outbox& out) {
  send_request(port, 0, *stations_.range(port).gateway, out);
}

void Neighbours::send_request(std::size_t port, std::uint32_t index, wire::Ipv4Address target,
                              Outbox& out) {
  auto packet = pool_.allocate();
  if (packet == nullptr) {
    return;
  }
  packet->length = std::max(arp_frame_bytes, wire::ethernet_min_frame_bytes);
  std::memset(packet->data(), 0, packet->length);
  auto* ethernet = reinterpret_cast<wire::EthernetHeader*>(packet->data());
  ethernet->destination = wire::broadcast_mac;
  ethernet->source = stations_.mac(port, index);
  ethernet->type = wire::ethertype::arp;
  auto& arp = *new (packet->data() + sizeof(wire::EthernetHeader)) wire::ArpHeader{};
  arp.operation = wire::ArpHeader::request;
  arp.sender_mac = ethernet->source;
  arp.sender_address = stations_.address(port, index);
  arp.target_address = target;
  out[port].push(std::move(packet));
}

bool Neighbours::take(PacketPtr& packet, std::size_t port, Outbox& out) {
  wire::MutableCursor cursor(packet->bytes());
  auto* ethernet = cursor.take<wire::EthernetHeader>();
  if (ethernet == nullptr || ethernet->type.value() != wire::ethertype::arp) {
    return false;
  }
  PacketPtr taken = std::move(packet);
  auto* arp = cursor.take<wire::ArpHeader>();
  if (arp == nullptr || !arp->is_ethernet_ipv4()) {
    return true;
  }
  const auto sender = arp->sender_address;
  if (stations_.range(port).gateway == sender && !stations_.range(port).gateway_mac) {
    gateways_[port] = arp->sender_mac;
  }
  const auto index = stations_.find(port, arp->target_address);
  const bool asks = arp->operation.value() == wire::ArpHeader::request &&
                    !stations_.find(port, sender);  // is not one of our own announcements
  if (asks && index) {
    ethernet->destination = arp->sender_mac;
    ethernet->source = stations_.mac(port, *index);
    arp->operation = wire::ArpHeader::reply;
    arp->target_mac = arp->sender_mac;
    arp->target_address = sender;
    arp->sender_mac = ethernet->source;
    arp->sender_address = stations_.address(port, *index);
    out[port].push(std::move(taken));
  }
  return true;
}

}  // namespace tributary::traffic
