// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>

#include "forwarding/fdb.h"
#include "switch/interfaces.h"
#include "switch/outlet.h"

namespace tributary::switching {

// The learning bridge of all ports without an address (IEEE 802.1D, without a spanning tree).
class Bridge {
 public:
  Bridge(const SwitchConfig& config, const Interfaces& interfaces, Outlet& outlet,
         std::uint64_t seed);

  // A frame with this header is about to be learned from and forwarded.
  [[gnu::always_inline]] void prefetch(const wire::EthernetHeader& header) const {
    fdb_.prefetch(header.source);
    fdb_.prefetch(header.destination);
  }
  // Learns the source of a frame that came in by a bridged port. False: the port may not have it.
  bool learn(const Packet& frame, const wire::MacAddress& source, Time now) {
    const auto result = fdb_.learn(source, frame.ingress, now);
    if (result == forwarding::Fdb::LearnResult::updated) {
      outlet_.publish(frame);
    }
    return result != forwarding::Fdb::LearnResult::refused;
  }
  // What another core learned.
  void learn_quietly(const wire::MacAddress& source, PortIndex port, Time now);

  // Bridged port behind which `mac` is; bridge_interface: the switch itself; no_port: unknown, or a
  // group.
  PortIndex find(const wire::MacAddress& mac, Time now) const {
    return mac.is_group() ? no_port : fdb_.find(mac, now);
  }

  // Sends a frame by its destination address, but not back to the port `from` (no_port: anywhere).
  // `to` is what find() says of the destination: where that is no_port, the frame is flooded.
  void forward(PacketPtr frame, PortIndex from, PortIndex to, Account account) {
    if (to < forwarding::bridge_interface && to != from) {
      outlet_.send(std::move(frame), to, account);
    } else {
      forward_otherwise(std::move(frame), from, to, account);
    }
  }

  void forget(PortIndex port) { fdb_.forget(port); }
  void reconfigure(const SwitchConfig& config);

  forwarding::Fdb& fdb() { return fdb_; }
  const forwarding::Fdb& fdb() const { return fdb_; }

 private:
  // Not by one other port.
  void forward_otherwise(PacketPtr frame, PortIndex from, PortIndex to, Account account);
  void flood(PacketPtr frame, PortIndex from, Account account);
  void add_static(const SwitchConfig& config);
  void set_learning(const SwitchConfig& config);

  const Interfaces& interfaces_;
  Outlet& outlet_;
  forwarding::Fdb fdb_;
};

// 01:80:c2:00:00:00 to 0f: never forwarded by a bridge (IEEE 802.1Q, table 8-1).
constexpr bool is_reserved_group(const wire::MacAddress& mac) {
  return mac.octets[0] == 0x01 && mac.octets[1] == 0x80 && mac.octets[2] == 0xc2 &&
         mac.octets[3] == 0 && mac.octets[4] == 0 && mac.octets[5] < 0x10;
}

}  // namespace tributary::switching
