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
#include "traffic/feed.h"
#include "traffic/neighbours.h"
#include "traffic/stations.h"
#include "traffic/traffic.h"

namespace CLI {  // NOLINT(readability-identifier-naming): CLI11's
class App;
}  // namespace CLI

namespace tributary::traffic {

// What is done with traffic: sent at one rate, sent in search of a rate, or written to files.
enum class Mode : std::uint8_t { run, ndr, pdr, pcap };

// Packet buffers that the generator can have.
inline constexpr std::uint32_t buffers_max = 4u << 20;

// What the generator knows when it asks a kind what its options mean.
struct Conditions {
  Mode mode = Mode::run;
  std::uint16_t mtu = 1500;  // bytes of IP in a packet
  // Behind each port, one of them. The kind makes them as many as it needs. In mode pcap there is
  // one port; a kind whose ports have a file each makes those as well.
  std::vector<StationRange> stations;
  // Two numbers by which switches that remember an earlier run tell this one from it.
  std::uint32_t drawn = 1;     // at random
  std::uint32_t clock_ms = 0;  // of the calendar's clock, modulo 2^32
};

// UDP destination ports, both ends included.
struct UdpPorts {
  const char* owner;  // as people call it
  std::uint16_t first;
  std::uint16_t last;
};

// One kind of traffic, as one command of the generator has it: its options, what they mean, and the
// traffic that comes of it. First declare(), then the command line is parsed, then interpret(); all
// that follows here is for afterwards.
class TrafficKind {
 public:
  TrafficKind() = default;
  TrafficKind(const TrafficKind&) = delete;  // the parser knows where its members are
  TrafficKind& operator=(const TrafficKind&) = delete;
  virtual ~TrafficKind() = default;

  virtual const char* name() const = 0;   // of the command
  virtual const char* about() const = 0;  // a line of help
  virtual const char* unit() const = 0;   // what is lost as a whole: "frames", "blocks"
  // Whether there are results that can be wrong.
  virtual bool checks_results() const = 0;
  // Command lines in that mode, for the help: indented, an empty line between two. Null: none.
  virtual const char* examples(Mode /*mode*/) const { return nullptr; }
  // By which alone switches know the protocol, whoever sends there. None: it takes more.
  virtual std::optional<UdpPorts> udp_ports() const { return std::nullopt; }

  // The app parses into this object.
  virtual void declare(CLI::App& app, Mode mode) = 0;
  // Throws CLI::ValidationError, which names the option and what would be right.
  virtual void interpret(Conditions& conditions) = 0;

  // How many of so many ports send of their own accord.
  virtual std::size_t senders(std::size_t ports) const = 0;
  // Packets that the traffic keeps, at most, beside those that are on their way.
  virtual std::uint64_t packets_kept() const { return 0; }
  // What was asked for, by names that stay.
  virtual nlohmann::ordered_json settings() const = 0;
  // Stations, neighbours and pool outlive the traffic.
  virtual std::unique_ptr<Traffic> make(const Stations& stations, const Neighbours& neighbours,
                                        PacketPool& pool) const = 0;

  // In mode pcap: how many files there are, and their frames.
  virtual std::size_t files() const { return 1; }
  virtual void feed(const Feed& to) const = 0;
  // What the configuration of a switch needs that is fed by the files, as TOML; the file with
  // number n, if there are several, is at its port "feedn".
  virtual std::string switch_settings(const Stations& /*stations*/) const { return {}; }
};

// Plain frames, and what src/protocols has: a new object of each, in the order of the help.
std::vector<std::unique_ptr<TrafficKind>> traffic_kinds();

// Those of all protocols, by their rows in protocols/list.h.
std::vector<std::unique_ptr<TrafficKind>> protocol_traffic_kinds();

// Plain frames to none of those ports.
std::unique_ptr<TrafficKind> plain_traffic_kind(std::vector<UdpPorts> taken);

}  // namespace tributary::traffic
