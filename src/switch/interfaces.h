// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "forwarding/rows.h"
#include "switch/config.h"
#include "wire/ipv6.h"
#include "wire/vlan.h"

namespace tributary::switching {

// Interfaces knows the ports of one logical switch, and the interfaces of its router: each routed
// port, the bridge (forwarding::bridge_interface) if it has an address, and VLANs of the bridge
// that have one.
class Interfaces {
 public:
  // Every packet looks here, so the facts have a size that a shift finds and lie in one cache line.
  struct alignas(32) PortFacts {
    wire::MacAddress mac;
    std::optional<forwarding::InterfaceAddress> address;
    std::uint16_t mtu = 0;
    bool up = true;
    bool is_bridged = false;

    bool bridged() const { return is_bridged; }
  };

  explicit Interfaces(const SwitchConfig& config);
  // Takes the VLANs of `config`, whose ports have to be the same.
  void reconfigure(const SwitchConfig& config);

  PortIndex count() const { return count_; }
  const PortFacts& port(PortIndex port) const { return ports_[port]; }
  void set_up(PortIndex port, bool up) { ports_[port].up = up; }

  // Returns the interface of the router that a received frame belongs to: its port, or the VLAN
  // that it is in; no_port if the router is not in that VLAN.
  PortIndex interface_of(const Packet& frame) const {
    return ports_[frame.ingress].bridged() ? interface_in(wire::vid_of(frame.vlan)) : frame.ingress;
  }
  // Returns the address of an interface; no value for a bridge without one, or an index that does
  // not exist.
  const std::optional<forwarding::InterfaceAddress>& address(PortIndex interface) const {
    if (interface < ports_.size()) {
      return ports_[interface].address;
    }
    const auto* const on_bridge = find_on_bridge(interface);
    return on_bridge != nullptr ? on_bridge->address : no_address;
  }
  // Returns the IPv6 address; an interface without one does not speak IPv6.
  const std::optional<forwarding::InterfaceAddress6>& address6(PortIndex interface) const {
    if (interface < ports_.size()) {
      return addresses6_[interface];
    }
    const auto* const on_bridge = find_on_bridge(interface);
    return on_bridge != nullptr ? on_bridge->address6 : no_address6;
  }
  // Returns the link-local address of an interface that speaks IPv6.
  wire::IpAddress link_local(PortIndex interface) const {
    return wire::link_local_of(mac(interface));
  }
  // Returns the link-layer address of the switch on an interface: all bridged ports share the
  // bridge's.
  const wire::MacAddress& mac(PortIndex interface) const {
    const bool own = interface < ports_.size() && !ports_[interface].bridged();
    return own ? ports_[interface].mac : bridge_mac_;
  }
  std::uint16_t mtu(PortIndex interface) const {
    if (interface < ports_.size()) {
      return ports_[interface].mtu;
    }
    const auto* const on_bridge = find_on_bridge(interface);
    return on_bridge != nullptr ? on_bridge->mtu : std::uint16_t{0};
  }
  bool is_up(PortIndex interface) const;

  // Returns the interface on whose prefix `address` lies, or no_port.
  PortIndex connected_to(const wire::Ipv4Address& address) const;
  PortIndex connected_to(const wire::IpAddress& address) const;
  // Returns true if ARP on `interface` answers for `target`: its own address, and the switch's
  // anywhere.
  bool answers(PortIndex interface, const wire::Ipv4Address& target) const;
  // Returns true if neighbour discovery does: for its own address, its link-local one, and the
  // switch's embedded one anywhere.
  bool answers(PortIndex interface, const wire::IpAddress& target) const;

  // This is an interface on the bridge, with the VLAN that it is in; 0 where there are no VLANs.
  struct OnBridge {
    PortIndex interface = no_port;
    std::uint16_t vid = 0;
    std::optional<forwarding::InterfaceAddress> address;
    std::optional<forwarding::InterfaceAddress6> address6;
    std::uint16_t mtu = 0;  // the least of the ports that carry the VLAN
  };
  // They are sorted by their numbers. The last one is the bridge's own
  // (forwarding::bridge_interface), which is there even without an address.
  const std::vector<OnBridge>& on_bridge() const { return on_bridge_; }
  // Returns null if there is no such interface.
  const OnBridge* find_on_bridge(PortIndex interface) const {
    return interface == forwarding::bridge_interface ? &on_bridge_.back() : find_vlan(interface);
  }

  const std::vector<PortIndex>& bridged_ports() const { return bridged_ports_; }
  const wire::MacAddress& bridge_mac() const { return bridge_mac_; }
  const wire::Ipv4Address& switch_address() const { return switch_address_; }
  // Returns the switch's address where its prefix embeds it.
  const std::optional<wire::IpAddress>& switch_address6() const { return switch_address6_; }

 private:
  static constexpr std::optional<forwarding::InterfaceAddress> no_address{};
  static constexpr std::optional<forwarding::InterfaceAddress6> no_address6{};

  const OnBridge* find_vlan(PortIndex interface) const {
    const auto vid = forwarding::vid_of_interface(interface);
    const auto place = vid < wire::vids ? places_[vid] : std::uint16_t{0};
    return place == 0 ? nullptr : &on_bridge_[place - 1u];
  }
  PortIndex interface_in(std::uint16_t vid) const {
    if (vid == on_bridge_.back().vid) {
      return forwarding::bridge_interface;
    }
    const auto interface = forwarding::vlan_interface(vid);
    return find_vlan(interface) != nullptr ? interface : no_port;
  }

  std::vector<PortFacts> ports_;
  std::vector<std::optional<forwarding::InterfaceAddress6>> addresses6_;  // by port
  PortIndex count_ = 0;  // how many ports there are
  std::vector<PortIndex> bridged_ports_;
  std::vector<OnBridge> on_bridge_;
  std::array<std::uint16_t, wire::vids> places_{};  // of VLANs in on_bridge_, from 1; 0: none
  wire::MacAddress bridge_mac_;
  wire::Ipv4Address switch_address_;
  std::optional<wire::IpAddress> switch_address6_;
};

}  // namespace tributary::switching
