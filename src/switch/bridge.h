// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "forwarding/fdb.h"
#include "switch/interfaces.h"
#include "switch/outlet.h"
#include "switch/vlans.h"

namespace tributary::switching {

// The bridge learns and forwards between all ports without an address (IEEE 802.1D, without a
// spanning tree), and within the VLANs that they are in, if any (IEEE 802.1Q).
class Bridge {
 public:
  Bridge(const SwitchConfig& config, const Interfaces& interfaces, Outlet& outlet,
         std::uint64_t seed);

  const Vlans& vlans() const { return vlans_; }

  // Prefetches the entries of both addresses: such a frame is about to be learned from and
  // forwarded.
  [[gnu::always_inline]] void prefetch(const Packet& frame,
                                       const wire::EthernetHeader& header) const {
    const auto vid = wire::vid_of(frame.vlan);
    fdb_.prefetch({header.source, vid});
    fdb_.prefetch({header.destination, vid});
  }
  // Learns the source of a frame that came in by a bridged port. Returns false if the port may not
  // have that source.
  bool learn(const Packet& frame, const wire::MacAddress& source, Time now) {
    const auto result = fdb_.learn({source, wire::vid_of(frame.vlan)}, frame.ingress, now);
    if (result == forwarding::Fdb::LearnResult::updated) {
      outlet_.publish(frame);
    }
    return result != forwarding::Fdb::LearnResult::refused;
  }
  // Learns what another core learned, and tells no other core.
  void learn_quietly(const Packet& frame, const wire::MacAddress& source, Time now);

  // Returns the bridged port behind which `mac` is in the VLAN of this frame, bridge_interface if
  // it is the switch itself, or no_port if it is unknown or a group.
  PortIndex find(const Packet& frame, const wire::MacAddress& mac, Time now) const {
    return mac.is_group() ? no_port : fdb_.find({mac, vlans_.vid_of(frame)}, now);
  }

  // Sends a frame by its destination address, but not back to the port `from` (no_port: it may go
  // to all). `to` is what find() returned for the destination; a frame for no_port is flooded.
  void forward(PacketPtr frame, PortIndex from, PortIndex to, Account account) {
    if (to < forwarding::bridge_interface && to != from) {
      send(std::move(frame), to, account);
    } else {
      forward_otherwise(std::move(frame), from, to, account);
    }
  }
  // Sends a sum in the same way, but by none of the ports `origins`, and floods it to all others
  // but the one by which the packet came whose way it takes.
  void forward_sum(PacketPtr sum, std::span<const PortIndex> origins, PortIndex to,
                   Account account);
  // Sends a frame by one bridged port, with the tag that its VLAN has there.
  void send(PacketPtr&& frame, PortIndex to, Account account) {
    if (vlans_.on()) {
      send_in_vlan(std::move(frame), to, account);
      return;
    }
    outlet_.send(std::move(frame), to, account);
  }

  // Sends what the router sends by one of its interfaces here: by the destination address, in the
  // VLAN of the interface. A frame that comes from another VLAN or from none gets its priority from
  // its class selector.
  void send_routed(PacketPtr frame, PortIndex interface, Account account, Time now);
  // The router has taken a frame from an interface here.
  void count_routed(const Packet& frame, PortIndex interface);
  // There is one row for each interface of the router here, in the order of
  // Interfaces::on_bridge().
  const std::vector<forwarding::VlanRow>& routed() const { return routed_; }

  void forget(PortIndex port) { fdb_.forget(port); }
  void reconfigure(const SwitchConfig& config);

  forwarding::Fdb& fdb() { return fdb_; }
  const forwarding::Fdb& fdb() const { return fdb_; }

 private:
  void send_in_vlan(PacketPtr frame, PortIndex to, Account account);
  // Handles a frame that does not go to one other port: it is flooded or dropped.
  void forward_otherwise(PacketPtr frame, PortIndex from, PortIndex to, Account account);
  void flood(PacketPtr frame, PortIndex from, std::span<const PortIndex> origins, Account account);
  void add_static(const SwitchConfig& config);
  void set_learning(const SwitchConfig& config);
  void list_interfaces();
  forwarding::VlanRow* routed_of(PortIndex interface);

  const Interfaces& interfaces_;
  Outlet& outlet_;
  Vlans vlans_;
  forwarding::Fdb fdb_;
  std::vector<forwarding::VlanRow> routed_;
};

}  // namespace tributary::switching
