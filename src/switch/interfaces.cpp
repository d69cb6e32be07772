// SPDX-License-Identifier: BSD-3-Clause
#include "switch/interfaces.h"

#include <algorithm>

#include "forwarding/route_table.h"

namespace tributary::switching {
namespace {

template <typename Own, typename Address>
bool on_prefix(const std::optional<Own>& own, const Address& address) {
  return own && forwarding::contains(forwarding::prefix_of(*own), address);
}

// Returns the largest IP packet that every port with this VLAN takes; without VLANs, all have VLAN
// 0.
std::uint16_t least_mtu(const SwitchConfig& config, const std::vector<PortIndex>& bridged,
                        std::uint16_t vid) {
  std::uint16_t least = 0xffff;
  for (const auto number : bridged) {
    const auto& port = config.ports[number];
    if (vid == 0 || port.vlan.carries(vid)) {
      least = std::min(least, port.mtu);
    }
  }
  return least;
}

}  // namespace

Interfaces::Interfaces(const SwitchConfig& config) : switch_address_(config.address) {
  if (config.embedding_prefix && !config.address.is_unspecified()) {
    switch_address6_ = config.embedding_prefix->embed(config.address);
  }
  ports_.reserve(config.ports.size());
  for (const auto& port : config.ports) {
    if (!port.is_routed()) {
      bridged_ports_.push_back(count_);
    }
    ports_.push_back({port.mac, port.address, port.mtu, true, !port.is_routed()});
    addresses6_.push_back(port.address6);
    ++count_;
  }
  if (!bridged_ports_.empty()) {
    bridge_mac_ = ports_[bridged_ports_.front()].mac;
  } else if (!ports_.empty()) {
    bridge_mac_ = ports_.front().mac;
  }
  reconfigure(config);
}

void Interfaces::reconfigure(const SwitchConfig& config) {
  on_bridge_.clear();
  for (const auto& vlan : config.vlans) {
    on_bridge_.push_back({forwarding::vlan_interface(vlan.vid), vlan.vid, vlan.address,
                          vlan.address6, least_mtu(config, bridged_ports_, vlan.vid)});
  }
  std::sort(on_bridge_.begin(), on_bridge_.end(),
            [](const OnBridge& a, const OnBridge& b) { return a.interface < b.interface; });
  places_ = {};
  for (std::size_t i = 0; i < on_bridge_.size(); ++i) {
    places_[on_bridge_[i].vid] = static_cast<std::uint16_t>(i + 1);
  }
  const auto vid = has_vlans(config) ? config.bridge_vlan : std::uint16_t{0};
  on_bridge_.push_back({forwarding::bridge_interface, vid, config.bridge_address,
                        config.bridge_address6, least_mtu(config, bridged_ports_, vid)});
}

bool Interfaces::is_up(PortIndex interface) const {
  return interface >= ports_.size() || ports_[interface].up;
}

PortIndex Interfaces::connected_to(const wire::Ipv4Address& address) const {
  for (PortIndex port = 0; port < count(); ++port) {
    if (on_prefix(ports_[port].address, address)) {
      return port;
    }
  }
  for (const auto& one : on_bridge_) {
    if (on_prefix(one.address, address)) {
      return one.interface;
    }
  }
  return no_port;
}

PortIndex Interfaces::connected_to(const wire::IpAddress& address) const {
  for (PortIndex port = 0; port < count(); ++port) {
    if (on_prefix(addresses6_[port], address)) {
      return port;
    }
  }
  for (const auto& one : on_bridge_) {
    if (on_prefix(one.address6, address)) {
      return one.interface;
    }
  }
  return no_port;
}

bool Interfaces::answers(PortIndex interface, const wire::IpAddress& target) const {
  const auto& own = address6(interface);
  return own &&
         (own->address == target || link_local(interface) == target || switch_address6_ == target);
}

bool Interfaces::answers(PortIndex interface, const wire::Ipv4Address& target) const {
  const auto& own = address(interface);
  if (!own || target.is_unspecified()) {
    return false;
  }
  return own->address == target || switch_address_ == target;
}

}  // namespace tributary::switching
