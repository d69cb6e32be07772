// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "packet/pool.h"
#include "support/frames.h"
#include "support/switch_bench.h"
#include "switch/switch.h"
#include "traffic/block_values.h"
#include "traffic/edge.h"
#include "traffic/feed.h"
#include "traffic/neighbours.h"
#include "traffic/session.h"
#include "traffic/stations.h"

namespace tributary::test {

inline const traffic::StationRange default_range{mac(1), Ip{10, 0, 0, 1}, 64, {}, {}};

// Runs a session in virtual time against a network, which is a function: what the generator sends
// by a port comes back as it says.
class Bench {
 public:
  using Network = std::function<void(std::size_t port, PacketPtr packet, traffic::Outbox& back)>;

  explicit Bench(std::vector<traffic::StationRange> ranges = {default_range})
      : stations(std::move(ranges)),
        neighbours(stations, pool),
        out(stations.ports()),
        back(stations.ports()) {}

  // Sends everything back by the port that it left by.
  static void loop(std::size_t port, PacketPtr packet, traffic::Outbox& back) {
    back[port].push(std::move(packet));
  }

  void run(traffic::Session& session, const Network& network, Duration step, Duration limit,
           std::size_t most = 32) {
    const Time end = now + limit;
    while (!session.done() && now < end) {
      for (std::size_t port = 0; port < back.size(); ++port) {
        if (!back[port].empty()) {
          session.receive(std::move(back[port]), port, now, out);
        }
      }
      session.run(most, now, out);
      for (std::size_t port = 0; port < out.size(); ++port) {
        while (auto packet = out[port].pop()) {
          network(port, std::move(packet), back);
        }
      }
      now += step;
    }
  }

  HeapPacketPool pool{8192, 2048};
  traffic::Stations stations;
  traffic::Neighbours neighbours;
  traffic::Outbox out;
  traffic::Outbox back;
  Time now = Time{} + std::chrono::seconds(1000);
};

// Returns one station or several behind each port of a bridge.
inline std::vector<traffic::StationRange> behind_bridge(std::size_t ports,
                                                        std::uint32_t hosts = 1) {
  std::vector<traffic::StationRange> ranges;
  for (std::size_t port = 0; port < ports; ++port) {
    const auto number = static_cast<std::uint8_t>(port);
    ranges.push_back({mac(1, number), Ip(10, 0, number, 1), hosts, {}, {}});
  }
  return ranges;
}

// Returns the same stations with addresses of IPv6, which embed those that they had.
inline constexpr wire::EmbeddingPrefix embedding{0x20010db800640000, 0};
inline std::vector<traffic::StationRange> over_ipv6(std::vector<traffic::StationRange> ranges) {
  for (auto& range : ranges) {
    range.prefix = embedding;
  }
  return ranges;
}
// Returns a network that takes nothing but IPv6.
inline Bench::Network ipv6_only(const Bench::Network& network) {
  return [network](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
    EXPECT_EQ(ethernet_of(*packet).type.value(), wire::ethertype::ipv6);
    network(port, std::move(packet), back);
  };
}

// Returns a bridge with one port for each of the generator's.
inline switching::SwitchConfig bridge(std::size_t ports) {
  switching::SwitchConfig config;
  config.name = "s";
  config.id = 1;
  for (std::size_t port = 0; port < ports; ++port) {
    config.ports.push_back(
        bridged_port("p" + std::to_string(port), static_cast<std::uint8_t>(port)));
  }
  return config;
}

// Returns a router whose only port is fed by a file, and which knows `hosts` hosts.
inline switching::SwitchConfig fed_router(std::uint8_t hosts) {
  switching::SwitchConfig config;
  config.name = "s";
  config.id = 1;
  config.address = Ip{10, 255, 0, 1};
  config.ports = {routed_port("feed", 0, Ip{10, 0, 0, 254})};
  for (std::uint8_t i = 1; i <= hosts; ++i) {
    config.arp.push_back({Ip{10, 0, 0, i}, mac(i)});
  }
  return config;
}

// Returns, for every element type, all operators that it has.
inline std::vector<traffic::Reduction> all_reductions() {
  std::vector<traffic::Reduction> all;
  for (std::size_t t = 0; t < wire::element_type_count; ++t) {
    for (std::size_t o = 0; o < wire::operator_count; ++o) {
      const traffic::Reduction kind{static_cast<wire::ElementType>(t),
                                    static_cast<wire::Operator>(o)};
      if (wire::is_valid(kind.type, kind.op)) {
        all.push_back(kind);
      }
    }
  }
  return all;
}

// Runs a trial of 20 ms, whose blocks are all over at the end.
template <typename Traffic>
traffic::TrialResult run_trial(Bench& bench, Traffic& traffic, const Bench::Network& network,
                               const traffic::Rate& rate) {
  traffic::SessionPlan plan;
  plan.trial.rate = rate;
  plan.trial.warm_up = std::chrono::milliseconds(1);
  plan.trial.duration = std::chrono::milliseconds(20);
  traffic::Session session(plan, bench.neighbours, traffic, traffic::Edge(bench.stations));
  bench.run(session, network, std::chrono::microseconds(20), std::chrono::seconds(10));
  EXPECT_TRUE(session.done());
  EXPECT_EQ(traffic.under_way(), 0u);
  return session.trials().at(0);
}

inline std::uint64_t figure(const traffic::TrialResult& result, std::string_view name) {
  const auto found = std::find_if(result.figures.begin(), result.figures.end(),
                                  [&](const traffic::Figure& f) { return f.name == name; });
  return found == result.figures.end() ? ~std::uint64_t{0} : found->value;
}

inline void expect_all_done(const traffic::TrialResult& result, std::uint64_t at_least) {
  EXPECT_GE(result.counters.done, at_least);
  EXPECT_EQ(result.counters.begun, result.counters.done);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_EQ(result.latency.count(), result.counters.done);
  EXPECT_EQ(figure(result, "invalid"), 0u);
  EXPECT_EQ(figure(result, "duplicates"), 0u);
  EXPECT_EQ(figure(result, "blocks_given_up"), 0u);
  EXPECT_EQ(result.counters.late, 0u);
}

// This takes a switch with one port for each of the generator's as the network.
class SwitchNetwork {
 public:
  SwitchNetwork(const switching::SwitchConfig& config, PacketPool& pool, const Time& now)
      : switch_(config, {}, pool), now_(now) {}

  void operator()(std::size_t port, PacketPtr packet, traffic::Outbox& back) {
    PacketList burst;
    packet->ingress = static_cast<PortIndex>(port);
    burst.push(std::move(packet));
    switching::Output output;
    switch_.receive(std::move(burst), now_, output);
    if (switch_.deadline() <= now_) {
      switch_.expire(now_, output);
    }
    output.departures.drain([&](std::uint32_t egress, PacketList run) {
      while (auto departure = run.pop()) {
        make_whole(*departure);
        back[egress].push(std::move(departure));
      }
    });
  }
  const switching::Switch& device() const { return switch_; }

 private:
  switching::Switch switch_;
  const Time& now_;
};

// Returns a figure of the switch's first engine.
inline std::uint64_t figure(const SwitchNetwork& network, std::string_view name) {
  const auto engines = network.device().engines();
  for (const auto& figure : engines.at(0).engine->figures()) {
    if (figure.name == name) {
      return figure.value;
    }
  }
  return ~std::uint64_t{0};
}

using FrameBytes = std::vector<std::byte>;

inline FrameBytes copy_of(const Packet& frame) {
  const auto bytes = frame.bytes();
  return {bytes.begin(), bytes.end()};
}

using Files = std::vector<std::vector<FrameBytes>>;
// Feeds frames of the bench's stations, into as many files as there are.
inline traffic::Feed feed_of(Bench& bench, Files& files) {
  return {bench.stations, bench.pool, [&files](std::size_t file, const Packet& frame) {
            files[file].push_back(copy_of(frame));
          }};
}

// Hands a frame of a file to a switch by that port; what the switch sends is lost.
inline void replay(const FrameBytes& frame, std::size_t port, SwitchNetwork& network,
                   Bench& bench) {
  auto packet = bench.pool.allocate();
  packet->length = static_cast<std::uint32_t>(frame.size());
  std::memcpy(packet->data(), frame.data(), frame.size());
  network(port, std::move(packet), bench.back);
  for (auto& queue : bench.back) {
    queue.clear();
  }
}

}  // namespace tributary::test
