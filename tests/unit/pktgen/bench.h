// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "canary_traffic.h"
#include "neighbours.h"
#include "packet/pool.h"
#include "session.h"
#include "stations.h"
#include "support/frames.h"
#include "switch/switch.h"

namespace tributary::test {

inline const pktgen::StationRange default_range{mac(1), Ip{10, 0, 0, 1}, 64, {}, {}};

// Runs a session in virtual time against a network, which is a function: what the generator sends
// by a port comes back as it says.
class Bench {
 public:
  using Network = std::function<void(std::size_t port, PacketPtr packet, pktgen::Outbox& back)>;

  explicit Bench(std::vector<pktgen::StationRange> ranges = {default_range})
      : stations(std::move(ranges)),
        neighbours(stations, pool),
        out(stations.ports()),
        back(stations.ports()) {}

  // Everything comes back by the port that it left by.
  static void loop(std::size_t port, PacketPtr packet, pktgen::Outbox& back) {
    back[port].push(std::move(packet));
  }

  void run(pktgen::Session& session, const Network& network, Duration step, Duration limit,
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
  pktgen::Stations stations;
  pktgen::Neighbours neighbours;
  pktgen::Outbox out;
  pktgen::Outbox back;
  Time now = Time{} + std::chrono::seconds(1000);
};

// A switch with one port for each of the generator's, as the network.
class SwitchNetwork {
 public:
  SwitchNetwork(const switching::SwitchConfig& config, PacketPool& pool, const Time& now)
      : switch_(config, {}, pool), now_(now) {}

  void operator()(std::size_t port, PacketPtr packet, pktgen::Outbox& back) {
    PacketList burst;
    packet->ingress = static_cast<PortIndex>(port);
    burst.push(std::move(packet));
    switching::Output output;
    switch_.receive(std::move(burst), now_, output);
    if (switch_.deadline() <= now_) {
      switch_.expire(now_, output);
    }
    while (auto departure = output.departures.pop()) {
      const auto egress = departure->egress;
      make_whole(*departure);
      back[egress].push(std::move(departure));
    }
  }
  const switching::Switch& device() const { return switch_; }

 private:
  switching::Switch switch_;
  const Time& now_;
};

}  // namespace tributary::test
