// SPDX-License-Identifier: BSD-3-Clause
#include "switch/interfaces.h"

#include <algorithm>

#include "forwarding/route_table.h"

namespace tributary::switching {
namespace {

bool on_prefix(const std::optional<forwarding::InterfaceAddress>& own,
               const wire::Ipv4Address& address) {
  return own && forwarding::contains(forwarding::prefix_of(*own), address);
}

}  // namespace

Interfaces::Interfaces(const SwitchConfig& config)
    : bridge_address_(config.bridge_address), switch_address_(config.address) {
  ports_.reserve(config.ports.size());
  for (const auto& port : config.ports) {
    if (!port.address) {
      bridged_ports_.push_back(count_);
      bridge_mtu_ = std::min(bridge_mtu_, port.mtu);
    }
    ports_.push_back({port.mac, port.address, port.mtu, true});
    ++count_;
  }
  if (!bridged_ports_.empty()) {
    bridge_mac_ = ports_[bridged_ports_.front()].mac;
  } else if (!ports_.empty()) {
    bridge_mac_ = ports_.front().mac;
  }
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
  return on_prefix(bridge_address_, address) ? forwarding::bridge_interface : no_port;
}

bool Interfaces::answers(PortIndex interface, const wire::Ipv4Address& target) const {
  const auto& own = address(interface);
  if (!own || target.is_unspecified()) {
    return false;
  }
  return own->address == target || switch_address_ == target;
}

}  // namespace tributary::switching
