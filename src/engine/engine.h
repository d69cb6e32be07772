// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/actions.h"
#include "engine/frame.h"
#include "packet/clock.h"
#include "packet/pool.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::engine {

// One received packet with its parsed headers; the frame points into the packet.
struct Arrival {
  PacketPtr packet;
  Frame frame;
};

// An IPv4 segment that the switch is connected to by a routed port.
struct Segment {
  std::uint32_t network = 0;  // host order
  std::uint32_t mask = 0;

  bool contains(wire::Ipv4Address address) const { return (address.value() & mask) == network; }
};

// Who the switch is, for packets that an engine originates.
struct SwitchIdentity {
  std::uint16_t id = 0;       // the paper's Switch Address
  wire::Ipv4Address address;  // where leaders reach it; source of what it originates
  wire::MacAddress mac;
  PortIndex ports = 0;
  std::vector<Segment> segments;

  // No router lies between the switch and `host`.
  bool is_last_hop(wire::Ipv4Address host) const {
    return std::any_of(segments.begin(), segments.end(),
                       [host](const Segment& segment) { return segment.contains(host); });
  }
};

// What a figure of the switch is made of, which has an engine on each of its cores.
enum class Merge : std::uint8_t { sum, maximum, minimum };

// A named figure of an engine, for counters and metrics: "collisions_total", "descriptors_in_use".
struct Figure {
  std::string_view name;
  std::uint64_t value = 0;
  Merge merge = Merge::sum;
};

// One job as an engine sees it.
struct JobStatus {
  std::uint32_t job = 0;
  std::uint64_t contributions = 0;
  std::uint64_t results = 0;
  std::uint64_t bypassed = 0;     // contributions that went to their leader as they were
  std::uint64_t descriptors = 0;  // in use now
  std::uint64_t descriptors_high_water = 0;
  Duration timeout{};  // of the latest block; zero: it began none, or only at its leader's last hop
};

// One block that is held, for `tributaryctl descriptor` and for diagnosis.
struct DescriptorStatus {
  std::uint32_t job = 0;
  std::uint32_t id = 0;
  std::uint32_t counter = 0;
  std::uint32_t hosts = 0;
  bool sent = false;  // the partial sum has gone on; only the children are remembered
  Duration age{};
  wire::Ipv4Address leader;
  std::vector<PortIndex> children;
};

// One block that waits unusually long, as far as is known here.
struct StallStatus {
  std::uint32_t job = 0;
  std::uint32_t block = 0;
  std::uint32_t attempt = 0;
  std::uint32_t contributions = 0;  // that are in, at the leader if it has said so
  std::uint32_t hosts = 0;
  Duration waiting{};
  wire::Ipv4Address leader;
  std::vector<std::uint16_t> missing;      // ranks that have not contributed; empty: unknown
  std::vector<PortIndex> missing_ports{};  // behind which somebody has not; empty: unknown
};

// One aggregation tree that is installed here, for engines whose trees are set up beforehand.
struct TreeStatus {
  std::uint32_t job = 0;
  std::uint16_t tree = 0;
  bool active = false;            // a collective is going on
  std::optional<Time> used{};     // when a sender was last heard; no value: never
  std::vector<Figure> figures{};  // how it stands, in the engine's own words
};

// An aggregation engine on one core of one logical switch. It never touches a socket, a clock, a
// thread, a lock or an mbuf; it is handed bursts and the time. One virtual call per burst.
class Engine {
 public:
  virtual ~Engine() = default;

  // Handles packets that the engine's protocol claimed (see protocol.h). Takes every packet of
  // `burst`; each ends in one action.
  virtual void process(std::span<Arrival> burst, Time now, Actions& actions) = 0;

  // The earliest time at which expire() has something to do; `never` if there is none.
  virtual Time deadline() const = 0;
  virtual void expire(Time now, Actions& actions) = 0;

  // Introspection, called on the engine's core between bursts.
  virtual std::vector<Figure> figures() const = 0;
  virtual std::vector<JobStatus> jobs() const = 0;
  virtual std::vector<DescriptorStatus> descriptors(Time now, std::size_t limit) const = 0;
  virtual std::vector<StallStatus> stalled(Time now, std::size_t limit) const = 0;
  virtual std::vector<TreeStatus> trees() const { return {}; }
};

}  // namespace tributary::engine
