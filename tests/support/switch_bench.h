// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "forwarding/flow_plan.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "support/frames.h"
#include "switch/switch.h"

namespace tributary::test {

// A SwitchBench is one core of a switch on a virtual clock. After every burst the ledger must
// balance; at the end every drop must be counted at a port, and every packet be back in the pool.
class SwitchBench {
 public:
  explicit SwitchBench(const switching::SwitchConfig& config, switching::CoreShare share = {},
                       std::size_t packets = 2048)
      : pool(packets, 2048),
        gauges(config.ports.size()),
        share_(share),
        switch_(std::make_unique<switching::Switch>(config, share, pool, gauges)) {
    for (std::size_t port = 0; port < gauges.size(); ++port) {
      gauges[port].publish_capacity(config.ports[port].queue.capacity_bytes);
      gauges[port].publish_rate(forwarding::line_rate(config.ports[port]));
    }
  }

  ~SwitchBench() {
    EXPECT_TRUE(switch_->ledger().balanced());
    std::uint64_t dropped = strays_;
    for (PortIndex port = 0; port < gauges.size(); ++port) {
      dropped += switch_->dropped_from(port);
    }
    EXPECT_EQ(dropped, switch_->ledger().dropped());
    switch_.reset();
    table_updates.clear();
    passed_on.clear();
    partial_sums.clear();
    EXPECT_EQ(pool.outstanding(), 0u);
  }

  switching::Switch& device() { return *switch_; }
  const Ledger& ledger() const { return switch_->ledger(); }

  // Hands in one packet and returns what left because of it.
  std::vector<PacketPtr> send(PortIndex port, PacketPtr packet) {
    PacketList burst;
    packet->ingress = port;
    burst.push(std::move(packet));
    return send_burst(std::move(burst));
  }
  std::vector<PacketPtr> send_burst(PacketList burst) {
    for (const auto* packet = burst.front(); packet != nullptr; packet = packet->next) {
      strays_ += packet->ingress < gauges.size() ? 0 : 1;
    }
    switching::Output out;
    switch_->receive(std::move(burst), now, out);
    return collect(std::move(out));
  }
  std::vector<PacketPtr> merge(PacketList sums) {
    switching::Output out;
    switch_->merge(std::move(sums), now, out);
    return collect(std::move(out));
  }
  std::vector<PacketPtr> advance(Duration by) {
    now += by;
    switching::Output out;
    switch_->expire(now, out);
    return collect(std::move(out));
  }
  std::uint64_t drops(DropReason reason) const {
    return ledger().drops[static_cast<std::size_t>(reason)];
  }
  std::uint64_t losses(DropReason reason) const {
    return ledger().losses[static_cast<std::size_t>(reason)];
  }

  HeapPacketPool pool;
  Time now = Time{} + std::chrono::seconds(1000);
  std::vector<PacketPtr> table_updates;
  PacketList passed_on;  // to the other core; partial_sums are for it to merge
  PacketList partial_sums;
  std::vector<forwarding::QueueGauge> gauges;  // by port, for tests to fill

 private:
  std::vector<PacketPtr> collect(switching::Output out) {
    EXPECT_TRUE(ledger().balanced());
    while (auto update = out.table_updates.pop()) {
      table_updates.push_back(std::move(update));
    }
    out.passed_on.drain([&](std::uint32_t core, PacketList run) {
      EXPECT_NE(core, share_.core);
      passed_on.append(std::move(run));
    });
    out.partial_sums.drain([&](std::uint32_t core, PacketList run) {
      EXPECT_NE(core, share_.core);
      partial_sums.append(std::move(run));
    });
    std::vector<PacketPtr> packets;
    out.departures.drain([&](std::uint32_t port, PacketList run) {
      while (auto packet = run.pop()) {
        EXPECT_EQ(packet->egress, port);
        EXPECT_TRUE(make_whole(*packet));
        packets.push_back(std::move(packet));
      }
    });
    return packets;
  }

  std::uint64_t strays_ = 0;  // packets that came by no port, and are dropped for it
  switching::CoreShare share_;
  std::unique_ptr<switching::Switch> switch_;
};

inline forwarding::PortConfig bridged_port(std::string name, std::uint8_t number) {
  forwarding::PortConfig port;
  port.name = std::move(name);
  port.mac = mac(number, 0xee);
  return port;
}

inline forwarding::PortConfig routed_port(std::string name, std::uint8_t number, Ip address,
                                          std::uint8_t length = 24) {
  auto port = bridged_port(std::move(name), number);
  port.address = forwarding::InterfaceAddress{address, length};
  return port;
}

}  // namespace tributary::test
