// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/traffic/traffic.h"

#include <functional>

#include <gtest/gtest.h>

#include "protocols/netreduce/engine/config.h"
#include "support/roce_packets.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"

namespace tributary::netreduce {
namespace {

using std::chrono::milliseconds;
using test::expect_all_done;
using test::figure;

TrafficPlan plan_of(std::uint16_t workers) {
  TrafficPlan plan;
  plan.workers = workers;
  plan.message_packets = 5;
  plan.path_mtu = 256;
  plan.block_timeout = milliseconds(4);
  return plan;
}

// A bridge with one port for each of the generator's, and the rings of the plan.
switching::SwitchConfig bridge(const TrafficPlan& plan, const traffic::Stations& stations) {
  auto config = test::bridge(stations.ports());
  config.protocols.emplace<NetReduceConfig>();
  for (std::uint32_t job = 0; job < plan.jobs; ++job) {
    auto& ring = config.protocols.get<NetReduceConfig>().rings.emplace_back();
    ring.id = plan.first_ring + job;
    for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
      const auto ports = static_cast<std::uint32_t>(stations.ports());
      ring.members.push_back(stations.ip(rank % ports, rank / ports));
    }
    ring.window = plan.window;
    ring.message_packets = plan.message_packets;
    ring.mtu = plan.path_mtu;
  }
  return config;
}

traffic::TrialResult run(test::Bench& bench, const TrafficPlan& plan,
                         const test::Bench::Network& network, const traffic::Rate& rate = {}) {
  NetReduceTraffic traffic(plan, bench.stations, bench.neighbours, bench.pool);
  return test::run_trial(bench, traffic, network, rate);
}

TEST(NetReduceTraffic, TurnsBlocksOver) {
  for (const auto workers : {std::uint16_t{2}, std::uint16_t{3}, std::uint16_t{8}}) {
    test::Bench bench(test::behind_bridge(workers));
    const auto plan = plan_of(workers);
    test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
    const auto result = run(bench, plan, std::ref(network));
    expect_all_done(result, 1000);
    EXPECT_GE(figure(result, "results_received"), workers * result.counters.done);
    EXPECT_EQ(network.device().ledger().dropped(), 0u);
  }
}

// Switches add up what RoCE sends over IPv6 with the addresses that it has, and its ICRC covers.
TEST(NetReduceTraffic, TurnsBlocksOverByIpv6) {
  test::Bench bench(test::over_ipv6(test::behind_bridge(3)));
  const auto plan = plan_of(3);
  test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
  const auto result = run(bench, plan, test::ipv6_only(std::ref(network)));
  expect_all_done(result, 1000);
  EXPECT_GE(figure(result, "results_received"), 3 * result.counters.done);
}

TEST(NetReduceTraffic, PutsSeveralWorkersBehindAPort) {
  test::Bench bench(test::behind_bridge(3, 2));
  auto plan = plan_of(6);
  plan.jobs = 3;
  test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
}

TEST(NetReduceTraffic, RunsRingsOfAllTypesAndOperators) {
  test::Bench bench(test::behind_bridge(3));
  auto plan = plan_of(3);
  plan.kinds = test::all_reductions();
  plan.jobs = static_cast<std::uint32_t>(plan.kinds.size());
  test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
}

TEST(NetReduceTraffic, MessagesMayHaveOnePacket) {
  test::Bench bench(test::behind_bridge(2));
  auto plan = plan_of(2);
  plan.message_packets = 1;
  plan.window = 7;
  test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
}

TEST(NetReduceTraffic, GivesLostBlocksUpAndGoesOn) {
  test::Bench bench(test::behind_bridge(4));
  auto plan = plan_of(4);
  plan.block_timeout = milliseconds(1);
  test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
  std::uint64_t seen = 0;
  const auto result =
      run(bench, plan, [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
        if (++seen % 500 != 0) {
          network(port, std::move(packet), back);
        }
      });
  EXPECT_GT(result.counters.done, 500u);
  EXPECT_GE(result.lost(), 3u);
  EXPECT_EQ(result.lost(), figure(result, "blocks_given_up"));
  EXPECT_GE(figure(result, "runs"), 3u);
  EXPECT_EQ(result.wrong, 0u);
}

TEST(NetReduceTraffic, KeepsToTheRate) {
  test::Bench bench(test::behind_bridge(8));
  const auto plan = plan_of(8);
  test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
  const auto result = run(bench, plan, std::ref(network), {traffic::Rate::Unit::packets, 100e3});
  EXPECT_NEAR(result.packets_per_second(), 100e3, 1000);
  expect_all_done(result, 230);
}

TEST(NetReduceTraffic, CountsEveryWrongPacket) {
  using How = std::function<void(wire::RoceView&)>;
  const How lies[] = {
      [](wire::RoceView& view) { view.payload[view.payload.size() - 30] ^= std::byte{4}; },
      [](wire::RoceView& view) { view.payload[view.payload.size() - 3] ^= std::byte{4}; },
      [](wire::RoceView& view) { view.bth->acknowledge ^= wire::BthHeader::acknowledge_bit; },
      [](wire::RoceView& view) { view.bth->partition = std::uint16_t{1}; },
  };
  for (const auto& lie : lies) {
    test::Bench bench(test::behind_bridge(4));
    const auto plan = plan_of(4);
    test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
    std::uint64_t seen = 0;
    std::uint64_t told = 0;
    const auto result =
        run(bench, plan, [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
          traffic::Outbox out(back.size());
          network(port, std::move(packet), out);
          for (std::size_t i = 0; i < out.size(); ++i) {
            while (auto departure = out[i].pop()) {
              if (auto view = test::roce_of(*departure); view.bth != nullptr && ++seen % 10 == 0) {
                lie(view);
                test::reseal_roce(*departure);
                ++told;
              }
              back[i].push(std::move(departure));
            }
          }
        });
    EXPECT_GT(told, 2u);
    EXPECT_EQ(result.wrong, told);
    EXPECT_GT(result.lost(), 0u);
  }
}

// A switch without the engine lets every packet pass, and none of them is a sum.
TEST(NetReduceTraffic, ContributionsAreNoResults) {
  test::Bench bench(test::behind_bridge(3));
  const auto plan = plan_of(3);
  auto config = bridge(plan, bench.stations);
  config.protocols.reset<NetReduceConfig>();
  test::SwitchNetwork network(config, bench.pool, bench.now);
  const auto result = run(bench, plan, std::ref(network));
  EXPECT_EQ(result.counters.done, 0u);
  EXPECT_GT(result.wrong, 2u);
}

TEST(NetReduceTraffic, SurvivesForeignAndBrokenPackets) {
  test::Bench bench(test::behind_bridge(4));
  const auto plan = plan_of(4);
  test::SwitchNetwork network(bridge(plan, bench.stations), bench.pool, bench.now);
  std::uint64_t seen = 0;
  const auto result =
      run(bench, plan, [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
        if (auto noise = bench.pool.clone(*packet)) {
          noise->data()[seen * 13 % noise->length] ^= std::byte{0x10};
          back[port].push(std::move(noise));
        }
        ++seen;
        traffic::Outbox out(back.size());
        network(port, std::move(packet), out);
        for (std::size_t i = 0; i < out.size(); ++i) {
          while (auto departure = out[i].pop()) {
            if (auto noise = bench.pool.clone(*departure)) {
              // The damage is in the bytes that the ICRC covers.
              noise->data()[47 + seen * 13 % (noise->length - 47)] ^= std::byte{0x10};
              back[i].push(std::move(noise));
            }
            back[i].push(std::move(departure));
          }
        }
      });
  EXPECT_GT(result.counters.done, 500u);
  EXPECT_EQ(result.lost(), 0u);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_GT(result.counters.foreign, 1000u);
  EXPECT_GT(figure(result, "invalid"), 100u);
}

}  // namespace
}  // namespace tributary::netreduce
