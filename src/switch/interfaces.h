// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forwarding/rows.h"
#include "switch/config.h"

namespace tributary::switching {

// The ports of one logical switch, and the interfaces of its router: each routed port, and the
// bridge (forwarding::bridge_interface) if it has an address.
class Interfaces {
 public:
  // Of a size that a shift finds and that lies in one cache line: every packet looks here.
  struct alignas(32) PortFacts {
    wire::MacAddress mac;
    std::optional<forwarding::InterfaceAddress> address;
    std::uint16_t mtu = 0;
    bool up = true;

    bool bridged() const { return !address.has_value(); }
  };

  explicit Interfaces(const SwitchConfig& config);

  PortIndex count() const { return count_; }
  const PortFacts& port(PortIndex port) const { return ports_[port]; }
  void set_up(PortIndex port, bool up) { ports_[port].up = up; }

  // The interface of the router that frames of this port belong to.
  PortIndex interface_of(PortIndex port) const {
    return ports_[port].bridged() ? forwarding::bridge_interface : port;
  }
  // Address of an interface; no value for a bridge without one, or an index that does not exist.
  const std::optional<forwarding::InterfaceAddress>& address(PortIndex interface) const {
    if (interface == forwarding::bridge_interface) {
      return bridge_address_;
    }
    return interface < ports_.size() ? ports_[interface].address : no_address;
  }
  // Link-layer address that the switch uses on an interface: all bridged ports share the bridge's.
  const wire::MacAddress& mac(PortIndex interface) const {
    const bool own = interface < ports_.size() && !ports_[interface].bridged();
    return own ? ports_[interface].mac : bridge_mac_;
  }
  std::uint16_t mtu(PortIndex interface) const {
    return interface < ports_.size() ? ports_[interface].mtu : bridge_mtu_;
  }
  bool is_up(PortIndex interface) const;

  // The interface on whose prefix `address` lies, or no_port.
  PortIndex connected_to(const wire::Ipv4Address& address) const;
  // True if ARP on `interface` answers for `target`: its own address, and the switch's anywhere.
  bool answers(PortIndex interface, const wire::Ipv4Address& target) const;

  const std::vector<PortIndex>& bridged_ports() const { return bridged_ports_; }
  const wire::MacAddress& bridge_mac() const { return bridge_mac_; }
  const wire::Ipv4Address& switch_address() const { return switch_address_; }

 private:
  static constexpr std::optional<forwarding::InterfaceAddress> no_address{};

  std::vector<PortFacts> ports_;
  PortIndex count_ = 0;  // of them
  std::vector<PortIndex> bridged_ports_;
  std::optional<forwarding::InterfaceAddress> bridge_address_;
  wire::MacAddress bridge_mac_;
  std::uint16_t bridge_mtu_ = 0xffff;
  wire::Ipv4Address switch_address_;
};

}  // namespace tributary::switching
