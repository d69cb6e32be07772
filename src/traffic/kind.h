// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "packet/pool.h"
#include "packet/translation.h"
#include "traffic/edge.h"
#include "traffic/feed.h"
#include "traffic/neighbours.h"
#include "traffic/stations.h"
#include "traffic/traffic.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}  // namespace CLI

namespace tributary::traffic {

// A Mode is what is done with traffic: it is sent at one rate, sent in search of a rate, or written
// to files.
enum class Mode : std::uint8_t { run, ndr, pdr, pcap };

// The generator can have so many packet buffers.
inline constexpr std::uint32_t buffers_max = 4u << 20;

// The generator knows this when it asks a kind what its options mean.
struct Conditions {
  Mode mode = Mode::run;
  std::uint16_t mtu = 1500;  // bytes of IP in a packet
  // Each port has one of these ranges behind it. The kind makes each as long as it needs. In mode
  // pcap there is one port; a kind whose ports have a file each makes those as well.
  std::vector<StationRange> stations;

  bool over_ipv6() const { return !stations.empty() && stations.front().prefix.has_value(); }
  // Returns how much longer packets of IPv4 become that are translated.
  std::uint32_t growth() const { return over_ipv6() ? ipv6_longer_by : 0; }

  // By these two numbers, switches that remember an earlier run tell this one from it.
  std::uint32_t drawn = 1;     // at random
  std::uint32_t clock_ms = 0;  // of the calendar's clock, modulo 2^32
};

// These are UDP destination ports, both ends included.
struct UdpPorts {
  const char* owner;  // as people call it
  std::uint16_t first;
  std::uint16_t last;
};

// A TrafficKind is one kind of traffic, as one command of the generator has it: its options, what
// they mean, and the traffic that comes of it. declare() is called first, then the command line is
// parsed, then interpret() is called; all that follows here is for afterwards.
class TrafficKind {
 public:
  TrafficKind() = default;
  TrafficKind(const TrafficKind&) = delete;  // the parser knows where its members are
  TrafficKind& operator=(const TrafficKind&) = delete;
  virtual ~TrafficKind() = default;

  virtual const char* name() const = 0;   // of the command
  virtual const char* about() const = 0;  // a line of help
  virtual const char* unit() const = 0;   // what is lost as a whole: "frames", "blocks"
  // Returns whether its packets are of the version of IP that the stations speak. Those of other
  // kinds are of IPv4, and are translated on their way.
  virtual bool speaks_ipv6() const { return false; }
  // Returns what its packets pass on their way. The stations have one prefix, or it speaks IPv6.
  Edge edge(const Stations& stations) const { return speaks_ipv6() ? Edge() : Edge(stations); }
  // Returns whether there are results that can be wrong.
  virtual bool checks_results() const = 0;
  // Returns command lines in that mode, for the help: indented, an empty line between two. Null:
  // there are none.
  virtual const char* examples(Mode /*mode*/) const { return nullptr; }
  // Returns the ports by which alone switches know the protocol, whoever sends there. No value:
  // switches need to see more than the port.
  virtual std::optional<UdpPorts> udp_ports() const { return std::nullopt; }

  // The app parses into this object.
  virtual void declare(CLI::App& app, Mode mode) = 0;
  // Throws CLI::ValidationError, which names the option and what would be right.
  virtual void interpret(Conditions& conditions) = 0;

  // Returns what all ports send together of their own accord where the busiest one fills its line,
  // in lines.
  virtual double lines(std::size_t ports) const = 0;
  // Returns how long something counts as under way that never comes back.
  virtual Duration patience() const { return {}; }
  // Returns how many packets the traffic keeps, at most, beside those that are on their way.
  virtual std::uint64_t packets_kept() const { return 0; }
  // Returns what was asked for, by names that do not change.
  virtual nlohmann::ordered_json settings() const = 0;
  // Stations, neighbours and pool outlive the traffic.
  virtual std::unique_ptr<Traffic> make(const Stations& stations, const Neighbours& neighbours,
                                        PacketPool& pool) const = 0;

  // These are for mode pcap: how many files there are, and their frames.
  virtual std::size_t files() const { return 1; }
  virtual void feed(const Feed& to) const = 0;
  // Returns what the configuration of a switch needs that is fed by the files, as TOML. If there
  // are several files, that with number n is at the switch's port "feedn".
  virtual std::string switch_settings(const Stations& /*stations*/) const { return {}; }
};

// Makes a new object of each kind, plain frames and what src/protocols has, in the order of the
// help.
std::vector<std::unique_ptr<TrafficKind>> traffic_kinds();

// Makes the kinds of all protocols, by their rows in protocols/list.h.
std::vector<std::unique_ptr<TrafficKind>> protocol_traffic_kinds();

// Makes the kind of plain frames, which go to none of the ports in `taken`.
std::unique_ptr<TrafficKind> plain_traffic_kind(std::vector<UdpPorts> taken);

}  // namespace tributary::traffic
