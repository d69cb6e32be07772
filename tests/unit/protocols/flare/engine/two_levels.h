// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "fixture.h"

namespace tributary::flare {

// The impairments of cables.
struct Disturbance {
  double loss = 0;
  double duplication = 0;
  bool reorders = false;
};

// Two levels of switches with the hosts of one job, joined by cables. Switches may start anew at
// any time. Derived classes define what hosts do.
class TwoLevels {
 public:
  static constexpr std::uint16_t leaves = 2;
  static constexpr std::uint16_t ranks_per_leaf = 3;
  static constexpr std::uint16_t ranks_in_all = leaves * ranks_per_leaf;

  TwoLevels(std::uint32_t seed, const Disturbance& disturbance, TreeConfig root, TreeConfig leaf)
      : random(seed), disturbance_(disturbance) {
    root.workers = root.workers_below = leaf.workers = ranks_in_all;
    add_switch(root);
    for (PortIndex port = 0; port < leaves; ++port) {
      const auto at = add_switch(leaf);
      cables_[{at, parent_port}] = {0, port};
      cables_[{0, port}] = {at, parent_port};
      for (PortIndex host = 0; host < ranks_per_leaf; ++host) {
        host_at_[{at, host}] = places_.size();
        places_.push_back({at, host});
      }
    }
  }
  virtual ~TwoLevels() = default;

  // Restarts a switch, which then has forgotten everything.
  void restart(std::size_t at) { start(switches.at(at)); }

  // Runs until all are done, and returns false if that takes too long. Calls `between` every now
  // and then.
  template <typename Between>
  bool run(Between between, Duration limit = 60s) {
    const auto end = now + limit;
    while (!done() && now < end) {
      now += events_.empty() ? 50us : 1us;
      for (std::size_t host = 0; host < places_.size(); ++host) {
        drive(host);
      }
      while (!events_.empty() && events_.begin()->first <= now) {
        auto event = std::move(events_.begin()->second);
        events_.erase(events_.begin());
        deliver(std::move(event));
      }
      between();
    }
    return done();
  }
  virtual bool done() const = 0;
  // Drops the packets that are on their way.
  void forget_packets() { events_.clear(); }

  struct Node {
    FlareConfig config;
    std::unique_ptr<FlareEngine> engine;
    std::unique_ptr<test::EngineHarness> harness;
  };
  HeapPacketPool pool{8192, 512};
  std::vector<Node> switches;
  Time now = Time{} + 1000s;
  std::mt19937 random;

 protected:
  // Lets a host send, as long as it is not done.
  virtual void drive(std::size_t host) = 0;
  virtual void receive(std::size_t host, Packet& packet) = 0;

  void send(std::size_t host, PacketPtr packet) { put(places_[host], false, std::move(packet)); }
  PortIndex port_of(std::size_t host) const { return places_[host].second; }

 private:
  using Place = std::pair<std::size_t, PortIndex>;  // a switch's port
  struct Event {
    Place to;
    bool to_host = false;  // from the switch to the host behind its port
    PacketPtr packet;
  };

  std::size_t add_switch(const TreeConfig& tree) {
    auto& node = switches.emplace_back();
    node.config.trees = {tree};
    start(node);
    return switches.size() - 1;
  }
  void start(Node& node) {
    node.harness.reset();
    node.engine = std::make_unique<FlareEngine>(node.config, self, pool);
    node.harness = std::make_unique<test::EngineHarness>(*node.engine);
  }

  bool happens(double probability) {
    return std::uniform_real_distribution<>(0, 1)(random) < probability;
  }
  void put(const Place& to, bool to_host, PacketPtr packet) {
    if (happens(disturbance_.loss)) {
      return;
    }
    if (disturbance_.duplication > 0 && happens(disturbance_.duplication)) {
      put_at(arrival(to, to_host), to, to_host, pool.clone(*packet));
    }
    put_at(arrival(to, to_host), to, to_host, std::move(packet));
  }
  Time arrival(const Place& to, bool to_host) {
    const auto flight = now + 2us + std::chrono::nanoseconds(random() % 20'000);
    if (disturbance_.reorders) {
      return flight;
    }
    auto& last = last_[{to, to_host}];
    last = std::max(last + 100ns, flight);
    return last;
  }
  void put_at(Time time, const Place& to, bool to_host, PacketPtr packet) {
    events_.emplace(time, Event{to, to_host, std::move(packet)});
  }

  void deliver(Event event) {
    const auto [at, port] = event.to;
    if (event.to_host) {
      return receive(host_at_.at(event.to), *event.packet);
    }
    event.packet->ingress = port;
    for (auto& sent : switches[at].harness->process(std::move(event.packet), now)) {
      const Place out{at, sent.port};
      const auto cable = cables_.find(out);
      if (cable != cables_.end()) {
        put(cable->second, false, std::move(sent.packet));
      } else {
        put(out, true, std::move(sent.packet));
      }
    }
  }

  Disturbance disturbance_;
  std::map<Place, Place> cables_;
  std::vector<Place> places_;             // of hosts
  std::map<Place, std::size_t> host_at_;  // behind a port
  std::map<std::pair<Place, bool>, Time> last_;
  std::multimap<Time, Event> events_;
};

}  // namespace tributary::flare
