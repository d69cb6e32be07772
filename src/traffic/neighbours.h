// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "packet/pool.h"
#include "traffic/stations.h"
#include "traffic/traffic.h"

namespace tributary::traffic {

// Neighbours does ARP, or the neighbour discovery of IPv6, for all virtual hosts: it answers those
// who ask for them, finds the gateways, and tells bridges where each host is before the traffic
// starts.
class Neighbours {
 public:
  static constexpr Duration ask_again_after = std::chrono::milliseconds(250);

  // The stations outlive this.
  Neighbours(const Stations& stations, PacketPool& pool);

  // Announces hosts and asks for gateways, up to `most` packets.
  void send(std::size_t most, Time now, Outbox& out);
  // Has all hosts announced once more: bridges forget those that they do not hear.
  void announce_again() { announce_port_ = 0; }
  bool announced() const { return announce_port_ == stations_.ports(); }
  // Returns whether all hosts are announced and all gateways are known.
  bool ready() const { return announced() && !unresolved(); }
  // Returns a gateway that has not answered.
  std::optional<wire::IpAddress> unresolved() const;
  Time deadline() const { return announced() ? ask_at_ : Time{}; }

  const Stations& stations() const { return stations_; }

  // Takes the packet if it is of these protocols; an answer goes into `out`.
  bool take(PacketPtr& packet, std::size_t port, Outbox& out);

  // Returns the link-layer address of the next hop from `port` to the host that has the address
  // `host`.
  wire::MacAddress next_hop(std::size_t port, wire::MacAddress host) const {
    return gateways_[port].value_or(host);
  }

 private:
  void announce(Outbox& out);
  void ask(std::size_t port, Outbox& out);

  const Stations& stations_;
  PacketPool& pool_;
  std::vector<std::optional<wire::MacAddress>> gateways_;  // by port
  std::size_t announce_port_ = 0;
  std::uint32_t announce_index_ = 0;
  Time ask_at_{};
};

}  // namespace tributary::traffic
