// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/actions.h"
#include "engine/frame.h"
#include "engine/status.h"
#include "packet/clock.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::engine {

// An Arrival is a received packet with its parsed headers; the frame points into the packet.
struct Arrival {
  PacketPtr packet;
  Frame frame;
};

// A Burst is what every decision about a packet needs: the time of its burst, and whom to tell.
struct Burst {
  Time now;
  Actions& actions;
};

// The switch is connected to this segment by a routed port: of IPv4 addresses, or of IPv6 ones by
// what they embed.
struct Segment {
  std::uint32_t network = 0;  // host order
  std::uint32_t mask = 0;
  bool over_ipv6 = false;

  bool contains(wire::Ipv4Address address) const { return (address.value() & mask) == network; }
};

// Packets that an engine originates say by this who the switch is.
struct SwitchIdentity {
  std::uint16_t id = 0;       // the paper's Switch Address
  wire::Ipv4Address address;  // where leaders reach it; source of what it originates
  wire::MacAddress mac;
  PortIndex ports = 0;
  std::vector<Segment> segments;
  unsigned cores = 1;           // how many share the switch; each has an engine
  std::vector<bool> bridged{};  // by port: whether it belongs to the bridge, whose address is `mac`

  // Returns whether a frame that came in by `port` is on its way over the bridge, to a station that
  // is not the switch.
  bool is_in_transit(PortIndex port, const wire::MacAddress& to) const {
    return port < bridged.size() && bridged[port] && !to.is_group() && to != mac;
  }
  // Returns whether no router lies between the switch and `host`.
  bool is_last_hop(wire::Ipv4Address host, bool over_ipv6) const {
    return std::any_of(segments.begin(), segments.end(), [&](const Segment& segment) {
      return segment.over_ipv6 == over_ipv6 && segment.contains(host);
    });
  }
};

// An Engine is an aggregation engine on one core of one logical switch. It never touches a socket,
// a clock, a thread, a lock or an mbuf; it is handed bursts and the time, with one virtual call for
// each burst.
class Engine {
 public:
  virtual ~Engine() = default;

  // Handles packets that the engine's protocol claimed (see protocol.h). Takes every packet of
  // `burst`; each ends in one action.
  virtual void process(std::span<Arrival> burst, Time now, Actions& actions) = 0;

  // Handles packets of blocks that other cores own (Protocol::may_gather). Each is absorbed, and
  // becomes part of a sum that is handed over, or is passed on as it is.
  virtual void gather(std::span<Arrival> /*burst*/, Time /*now*/, Actions& /*actions*/) {}
  // Takes partial sums that engines on other cores have handed over. They were accounted for there,
  // so that they are no received packets; what cannot be used is lost.
  virtual void merge(PacketList /*sums*/, Time /*now*/, Actions& /*actions*/) {}

  // Returns the earliest time at which expire() has something to do; `never` if there is none.
  virtual Time deadline() const { return never; }
  virtual void expire(Time /*now*/, Actions& /*actions*/) {}

  // Introspection is called on the engine's core between bursts. `limit` bounds the rows.
  virtual std::vector<Figure> figures() const = 0;
  virtual std::vector<JobStatus> jobs() const { return {}; }
  virtual std::vector<DescriptorStatus> descriptors(Time /*now*/, std::size_t /*limit*/) const {
    return {};
  }
  virtual std::vector<StallStatus> stalled(Time /*now*/, std::size_t /*limit*/) const { return {}; }
  virtual std::vector<TreeStatus> trees() const { return {}; }
};

}  // namespace tributary::engine
