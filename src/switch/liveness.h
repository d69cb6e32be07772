// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/frame.h"
#include "forwarding/bfd_session.h"
#include "forwarding/route_table.h"
#include "forwarding/rows.h"
#include "switch/neighbours.h"
#include "switch/outlet.h"

namespace tributary::switching {

// A BFD control packet of a single hop (RFC 5881), by its port.
bool is_bfd(const engine::Frame& frame);

// Which next hops of the static routes can be used. One core keeps a BFD session with each; the
// other cores are told by table updates, at every change and again with every packet that is sent,
// so that a lost update does not stay lost.
class Liveness {
 public:
  static constexpr unsigned core = 0;  // that has the sessions

  Liveness(const Interfaces& interfaces, Neighbours& neighbours, Outlet& outlet, CoreShare share,
           std::uint64_t seed);

  bool serves(const engine::Frame& frame) const { return config_ && is_bfd(frame); }
  // A packet that is addressed to the switch and that serves() is true for.
  void receive(PacketPtr packet, const engine::Frame& frame, Time now);
  // A table update without an ingress port: what the core with the sessions says.
  void learn(const Packet& update);
  void expire(Time now);
  Time deadline() const;

  // Sessions with hops that are no longer watched end without alarming the neighbour.
  void reconfigure(const std::optional<forwarding::BfdConfig>& config,
                   const std::vector<forwarding::NextHop>& gateways);

  // Next hops that were alive and are not any more, and those that say that something behind them
  // is cut off.
  const std::vector<forwarding::UnhealthyNeighbour>& unhealthy() const { return unhealthy_; }
  // Whether unhealthy() has changed since this was last asked.
  bool take_change();

  // Neighbours are told when a route of ours has nowhere to go, or has again: with static routes
  // they would not learn it, and go on sending here what can go another way.
  void set_cut_off(bool cut_off);
  // It is time to look whether a queue behind us is filling up. Neighbours are told when it was so
  // at several looks in a row, as what is over by the time they hear of it leads them astray.
  bool looks_at_queues(Time now);
  void note_crowded(bool crowded);
  // A link came up: sessions on it need not wait.
  void hurry(PortIndex port);

  std::vector<forwarding::BfdRow> rows() const;

 private:
  // How long a session that ends still says so: three packets at the pace of one that is not up.
  static constexpr Duration admin_down_time = std::chrono::seconds(3);

  static constexpr unsigned crowded_looks_min = 3;

  struct Watch {
    forwarding::NextHop hop;
    forwarding::BfdSession session;
    std::uint16_t source_port;
    bool leaving = false;
    Time gone_at = never;
  };

  Watch* find(const wire::BfdHeader& header, const wire::Ipv4Address& source, PortIndex interface);
  void watch(const forwarding::NextHop& hop);
  void serve(Watch& watch, Time now);
  bool is_crowded() const { return crowded_looks_ == crowded_looks_min; }
  // False if there is no way to send it.
  bool send(const Watch& watch, const wire::BfdHeader& header, Time now);
  using Health = std::optional<forwarding::Ailment>;  // no value: whole
  static Health health_of(const forwarding::BfdSession& session);
  void tell(const wire::Ipv4Address& neighbour, Health health);
  // True if that is news.
  bool note(const wire::Ipv4Address& neighbour, Health health);

  const Interfaces& interfaces_;
  Neighbours& neighbours_;
  Outlet& outlet_;
  bool keeps_sessions_;
  std::uint64_t seed_;
  std::uint32_t drawn_ = 0;
  std::optional<forwarding::BfdConfig> config_;
  std::vector<Watch> watches_;
  std::vector<forwarding::UnhealthyNeighbour> unhealthy_;
  bool cut_off_ = false;
  unsigned crowded_looks_ = 0;  // the last so many
  bool changed_ = false;
  Time look_at_{};
};

}  // namespace tributary::switching
