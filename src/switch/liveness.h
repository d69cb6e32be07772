// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forwarding/bfd_session.h"
#include "forwarding/route_table.h"
#include "forwarding/rows.h"
#include "switch/bfd_packets.h"
#include "switch/neighbours.h"
#include "switch/neighbours6.h"
#include "switch/outlet.h"

namespace tributary::switching {

// The queues behind a switch are as full as the fullest of them.
enum class QueuesBehind : std::uint8_t {
  empty,
  in_use,
  crowded,           // one is above half
  crowded_for_long,  // and its line takes a while to empty it
};

// Liveness knows which next hops of the static routes can be used, of both versions of IP. One core
// keeps a BFD session with each. The other cores are told by table updates, at every change and
// again with every packet that is sent, so that a lost update does not stay lost.
class Liveness {
 public:
  static constexpr unsigned core = 0;  // it has the sessions

  Liveness(const Interfaces& interfaces, Neighbours& neighbours, Neighbours6& neighbours6,
           Outlet& outlet, CoreShare share, std::uint64_t seed);

  bool serves(const engine::Frame& frame) const { return config_ && is_bfd(frame); }
  bool serves(const Datagram6& datagram) const { return config_ && is_bfd(datagram); }
  // Takes a packet that is addressed to the switch and for which serves() is true.
  void receive(PacketPtr packet, const BfdArrival& arrival, Time now);
  // Learns what the core with the sessions says: a table update without an ingress port.
  void learn(const Packet& update);
  void expire(Time now);
  Time deadline() const;

  // Watches the gateways that the neighbours' tables have. Sessions with hops that are no longer
  // watched end without alarming the neighbour.
  void reconfigure(const std::optional<forwarding::BfdConfig>& config);

  // Lists the next hops that were alive and are not any more, and those that say that something
  // behind them is cut off or crowded.
  const std::vector<forwarding::UnhealthyNeighbour>& unhealthy() const { return unhealthy_; }
  // Says whether unhealthy() has changed since this was last asked.
  bool take_change();

  // Neighbours are told when a route of ours, of their version of IP, has nowhere to go, or has
  // again: with static routes they would not learn it, and would go on sending here what can go
  // another way.
  struct CutOff {
    bool ipv4 = false;
    bool ipv6 = false;

    bool of(const wire::IpAddress& neighbour) const { return neighbour.is_v4() ? ipv4 : ipv6; }
  };
  void set_cut_off(const CutOff& cut_off);
  // Says whether it is time to look how full the queues behind us are. Neighbours are told when one
  // was filling up at several looks in a row: what is over by the time they hear of it leads them
  // astray.
  bool looks_at_queues(Time now) const { return next_look() <= now; }
  void note_queues(QueuesBehind queues, Time now);
  // A link came up, so sessions on it need not wait.
  void hurry(PortIndex port);

  std::vector<forwarding::BfdRow> rows() const;

 private:
  // A session that ends says so for this long: three packets at the pace of one that is not up.
  static constexpr Duration admin_down_time = std::chrono::seconds(3);

  static constexpr unsigned crowded_looks_min = 10;

  using Hop = forwarding::NextHopBy<wire::IpAddress>;
  struct Watch {
    Hop hop;
    forwarding::BfdSession session;
    std::uint16_t source_port;
    bool leaving = false;
    Time gone_at = never;
  };

  std::vector<Hop> gateways() const;
  Watch* find(const wire::BfdHeader& header, const wire::IpAddress& source, PortIndex interface);
  void watch(const Hop& hop);
  void serve(Watch& watch, Time now);
  Time next_look() const { return config_ && !watches_.empty() ? look_at_ : never; }
  bool is_crowded() const { return crowded_looks_ == crowded_looks_min; }
  // Returns no value if the interface does not speak the hop's version of IP.
  std::optional<wire::IpAddress> own_address(const Hop& hop) const;
  // Returns false if there is no way to send it.
  bool send(const Watch& watch, const wire::BfdHeader& header, Time now);
  using Health = std::optional<forwarding::Ailment>;  // no value: it is whole
  static Health health_of(const forwarding::BfdSession& session);
  void tell(const wire::IpAddress& neighbour, Health health);
  // Returns true if that is news.
  bool note(const wire::IpAddress& neighbour, Health health);

  const Interfaces& interfaces_;
  Neighbours& neighbours_;
  Neighbours6& neighbours6_;
  Outlet& outlet_;
  bool keeps_sessions_;
  std::uint64_t seed_;
  std::uint32_t drawn_ = 0;
  std::optional<forwarding::BfdConfig> config_;
  std::vector<Watch> watches_;
  std::vector<forwarding::UnhealthyNeighbour> unhealthy_;
  CutOff cut_off_;
  unsigned crowded_looks_ = 0;  // so many looks in a row, by weight, found a queue filling up
  bool changed_ = false;
  Time look_at_{};
};

}  // namespace tributary::switching
