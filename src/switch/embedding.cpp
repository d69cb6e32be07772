// SPDX-License-Identifier: BSD-3-Clause
#include "switch/embedding.h"

#include <algorithm>
#include <cassert>

#include "packet/translation.h"
#include "protocols/engines.h"
#include "wire/cursor.h"
#include "wire/ethernet.h"
#include "wire/vlan.h"

namespace tributary::switching {

Embedding::Embedding(const SwitchConfig& config) : prefix_(config.embedding_prefix) {
  if (!on()) {
    return;
  }
  own_vlan_ = has_vlans(config) ? config.bridge_vlan : std::uint16_t{0};
  for (const auto& port : config.ports) {
    const bool bridged = !port.is_routed();
    const bool lacks_ipv4 =
        bridged ? config.bridge_address6 && !config.bridge_address : port.address6 && !port.address;
    ports_.push_back({bridged, port.address6.has_value(), lacks_ipv4, port.mac});
  }
  const auto kinds = protocols::engines();
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    const auto& protocol = kinds[row]->protocol;
    if (!config.protocols.of(row).has_value() || protocol.over_ipv6) {
      continue;
    }
    protocols_.push_back(&protocol);
    for (std::uint32_t port = protocol.udp_ports.first; port <= protocol.udp_ports.last; ++port) {
      is_udp_port_.set(port);
    }
  }
}

bool Embedding::is_for_switch(const Packet& packet, const wire::MacAddress& destination,
                              bool to_group) const {
  if (packet.ingress >= ports_.size()) {
    return false;
  }
  const auto& port = ports_[packet.ingress];
  return port.is_bridged ? wire::vid_of(packet.vlan) == own_vlan_
                         : port.speaks_ipv6 &&
                               (destination == port.mac || (to_group && destination.is_group()));
}

// What no engine claims would go on with a header of IPv4.
bool Embedding::is_claimed(const engine::Frame& frame) const {
  const bool to_group = frame.ipv4->destination.is_multicast();
  return std::any_of(protocols_.begin(), protocols_.end(), [&](const engine::Protocol* protocol) {
    return protocol->to_groups == to_group && protocol->claims(frame);
  });
}

bool Embedding::goes_by_ipv6(const Packet& packet, std::uint16_t ethertype) const {
  const bool is_ours =
      std::any_of(protocols_.begin(), protocols_.end(),
                  [=](const engine::Protocol* protocol) { return protocol->goes_by(ethertype); });
  return is_ours && packet.ingress < ports_.size() && ports_[packet.ingress].lacks_ipv4 &&
         (!ports_[packet.ingress].is_bridged || wire::vid_of(packet.vlan) == own_vlan_);
}

void Embedding::enter(Packet& packet) const {
  auto* arrived = wire::MutableCursor(packet.bytes()).take<Ipv6Headers>();
  if (arrived == nullptr) {
    return;
  }
  if (const auto type = arrived->ethernet.type.value(); type != wire::ethertype::ipv6) {
    packet.over_ipv6 |= goes_by_ipv6(packet, type);  // another core may have had it
    return;
  }
  if (!is_udp_port_[arrived->udp.destination_port.value()]) {
    return;
  }
  auto headers = headers_over_ipv4(packet, *prefix_);
  if (!headers || !is_for_switch(packet, arrived->ethernet.destination,
                                 headers->ip.destination.is_multicast())) {
    return;
  }
  const auto payload =
      packet.bytes().subspan(sizeof *arrived, arrived->udp.length.value() - sizeof arrived->udp);
  if (!is_claimed({&headers->ethernet, &headers->ip, &arrived->udp, payload})) {
    return;
  }
  become_ipv4(packet, *headers);
  packet.over_ipv6 = true;
}

void Embedding::leave(Packet& packet) const {
  assert(on() && packet.over_ipv6);
  const auto* ethernet = reinterpret_cast<const wire::EthernetHeader*>(packet.data());
  if (ethernet->type.value() == wire::ethertype::ipv4) {
    become_ipv6(packet, *prefix_);
  }
  packet.over_ipv6 = false;
}

}  // namespace tributary::switching
