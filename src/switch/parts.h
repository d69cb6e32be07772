// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "packet/clock.h"
#include "packet/packet.h"
#include "packet/pool.h"
#include "switch/advertiser6.h"
#include "switch/aggregation.h"
#include "switch/announcer.h"
#include "switch/bridge.h"
#include "switch/departures.h"
#include "switch/embedding.h"
#include "switch/interfaces.h"
#include "switch/liveness.h"
#include "switch/neighbours.h"
#include "switch/neighbours6.h"
#include "switch/outlet.h"
#include "switch/router.h"
#include "switch/router6.h"
#include "switch/switch.h"

namespace tributary::switching {

// Parts has what one core's share of a switch consists of, wired up, and handles what happens to
// all of it between packets. The classes that handle packets derive from it, step by step
// (Admission, FrameWays), so that everything is at a fixed place of one object.
class Parts {
 public:
  Parts(const SwitchConfig& config, CoreShare share, PacketPool& pool,
        std::span<const forwarding::QueueGauge> gauges);

  // These are as in Switch.
  void learn(const Packet& update, Time now);
  void set_port_up(PortIndex port, bool up);
  void reconfigure(const SwitchConfig& config);
  void announce() { announcer_.announce(); }
  void withdraw() { advertiser6_.withdraw(); }

  const Ledger& ledger() const { return outlet_.ledger(); }
  std::uint64_t dropped_from(PortIndex port) const { return outlet_.dropped_from()[port]; }
  const Bridge& bridge() const { return bridge_; }
  const Neighbours& neighbours() const { return neighbours_; }
  const Router& router() const { return router_; }
  const Neighbours6& neighbours6() const { return neighbours6_; }
  const Router6& router6() const { return router6_; }
  const Advertiser6& advertiser6() const { return advertiser6_; }
  const Liveness& liveness() const { return liveness_; }
  const Aggregation& aggregation() const { return aggregation_; }

 private:
  bool is_heard(const Packet& frame, const wire::MacAddress& destination, Time now);
  // Tells neighbours whether routes have somewhere to go.
  void tell_of_routes();

 protected:
  // Makes routes use, from now on, the next hops that are alive.
  void follow_liveness();

  Interfaces interfaces_;
  Embedding embedding_;
  Outlet outlet_;
  Bridge bridge_;
  Neighbours neighbours_;
  Neighbours6 neighbours6_;
  Liveness liveness_;
  Router router_;
  Advertiser6 advertiser6_;
  Router6 router6_;
  Aggregation aggregation_;
  Departures departures_;
  Announcer announcer_;
};

}  // namespace tributary::switching
