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
    ports_.push_back({!port.is_routed(), port.address6.has_value(), port.mac});
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

void Embedding::enter(Packet& packet) const {
  auto* arrived = wire::MutableCursor(packet.bytes()).take<Ipv6Headers>();
  if (arrived == nullptr || arrived->ethernet.type.value() != wire::ethertype::ipv6 ||
      !is_udp_port_[arrived->udp.destination_port.value()]) {
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
  become_ipv6(packet, *prefix_);
  packet.over_ipv6 = false;
}

}  // namespace tributary::switching
