// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/traffic/traffic.h"

#include <functional>

#include <gtest/gtest.h>

#include "engine/frame.h"
#include "protocols/panama/engine/config.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"

namespace tributary::panama {
namespace {

using std::chrono::milliseconds;
using test::expect_all_done;
using test::figure;
using test::Ip;
using wire::PanamaKind;

TrafficPlan plan_of(std::uint16_t workers) {
  TrafficPlan plan;
  plan.workers = workers;
  plan.group = Ip(239, 192, 0, 1);
  plan.collective = 100;
  plan.elements = 33;
  plan.block_timeout = milliseconds(4);
  return plan;
}

// A bridge with one port for each of the generator's, and the trees of the plan.
switching::SwitchConfig bridge(const TrafficPlan& plan, std::size_t ports,
                               std::uint32_t packet_memory = 512) {
  auto config = test::bridge(ports);
  config.address = Ip(10, 0, 255, 1);
  config.protocols.emplace<PanamaConfig>();
  config.protocols.get<PanamaConfig>().packet_memory = packet_memory;
  const traffic::TreePlaces places(plan, ports);
  for (std::uint32_t job = 0; job < plan.jobs; ++job) {
    for (std::uint16_t number = 0; number < plan.trees; ++number) {
      TreeConfig tree;
      tree.job = plan.first_job + job;
      tree.tree = number;
      tree.group = wire::Ipv4Address(plan.group.value() + job * plan.trees + number);
      for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
        tree.children.push_back(static_cast<PortIndex>(places.port_of(job, rank)));
      }
      if (plan.parent) {
        tree.parent = static_cast<PortIndex>(*plan.parent);
      }
      tree.workers = tree.workers_below = tree.quorum = plan.workers;
      config.protocols.get<PanamaConfig>().trees.push_back(tree);
    }
  }
  return config;
}

traffic::TrialResult run(test::Bench& bench, const TrafficPlan& plan,
                         const test::Bench::Network& network, const traffic::Rate& rate = {}) {
  PanamaTraffic traffic(plan, bench.stations, bench.pool);
  return test::run_trial(bench, traffic, network, rate);
}

TEST(PanamaTraffic, TurnsBlocksOverAtTheRoot) {
  for (const auto workers : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}}) {
    test::Bench bench(test::behind_bridge(workers));
    const auto plan = plan_of(workers);
    test::SwitchNetwork network(bridge(plan, workers), bench.pool, bench.now);
    const auto result = run(bench, plan, std::ref(network));
    expect_all_done(result, 1000);
    EXPECT_GE(figure(result, "results_received"), workers * result.counters.done);
    EXPECT_GT(figure(result, "collectives"), 10u);
    EXPECT_EQ(figure(result, "sums_received"), 0u);
  }
}

TEST(PanamaTraffic, TurnsBlocksOverByIpv6) {
  for (const bool plays_root : {false, true}) {
    test::Bench bench(test::over_ipv6(test::behind_bridge(4)));
    auto plan = plan_of(3);
    if (plays_root) {
      plan.parent = 3;
    }
    auto config = bridge(plan, 4);
    config.embedding_prefix = test::embedding;
    test::SwitchNetwork network(config, bench.pool, bench.now);
    expect_all_done(run(bench, plan, test::ipv6_only(std::ref(network))), 100);
  }
}

TEST(PanamaTraffic, PlaysTheRoot) {
  for (const std::size_t parent : {0, 2, 4}) {
    test::Bench bench(test::behind_bridge(5));
    auto plan = plan_of(4);
    plan.parent = parent;
    test::SwitchNetwork network(bridge(plan, 5), bench.pool, bench.now);
    const auto result = run(bench, plan, std::ref(network));
    expect_all_done(result, 1000);
    // There is one sum for all workers.
    EXPECT_EQ(figure(result, "sums_received"), figure(result, "answers_sent"));
    EXPECT_LT(figure(result, "sums_received"), result.counters.packets / 3);
  }
}

TEST(PanamaTraffic, SpreadsJobsAndTreesOverPorts) {
  test::Bench bench(test::behind_bridge(5));
  auto plan = plan_of(3);
  plan.jobs = 7;
  plan.trees = 3;
  plan.parent = 1;
  test::SwitchNetwork network(bridge(plan, 5), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

TEST(PanamaTraffic, RunsJobsOfAllTypesAndOperators) {
  test::Bench bench(test::behind_bridge(3));
  auto plan = plan_of(3);
  plan.kinds = test::all_reductions();
  plan.jobs = static_cast<std::uint32_t>(plan.kinds.size());
  test::SwitchNetwork network(bridge(plan, 3, 1024), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
}

// Where the memory is divided among many trees, so is the window.
TEST(PanamaTraffic, KeepsToTheCapOfTheSwitch) {
  test::Bench bench(test::behind_bridge(4));
  auto plan = plan_of(4);
  plan.trees = 8;
  plan.interleave = 64;
  test::SwitchNetwork network(bridge(plan, 4, 24), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 500);
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

TEST(PanamaTraffic, GivesLostBlocksUpAndGoesOn) {
  for (const bool plays_root : {false, true}) {
    test::Bench bench(test::behind_bridge(5));
    auto plan = plan_of(4);
    plan.block_timeout = milliseconds(1);
    plan.collective = 1u << 20;  // only what is lost ends it
    if (plays_root) {
      plan.parent = 4;
    }
    test::SwitchNetwork network(bridge(plan, 5), bench.pool, bench.now);
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
    EXPECT_GE(figure(result, "collectives"), 3u);
    EXPECT_EQ(result.wrong, 0u);
  }
}

TEST(PanamaTraffic, KeepsToTheRate) {
  test::Bench bench(test::behind_bridge(8));
  const auto plan = plan_of(8);
  test::SwitchNetwork network(bridge(plan, 8), bench.pool, bench.now);
  const auto result = run(bench, plan, std::ref(network), {traffic::Rate::Unit::packets, 100e3});
  EXPECT_NEAR(result.packets_per_second(), 100e3, 1000);
  expect_all_done(result, 230);
}

// A switch behind which every tenth packet of one kind is changed, and sealed again.
class Liar {
 public:
  using How = std::function<void(wire::PanamaView&)>;

  Liar(test::SwitchNetwork& network, PanamaKind kind, How how)
      : network_(network), kind_(kind), how_(std::move(how)) {}

  void operator()(std::size_t port, PacketPtr packet, traffic::Outbox& back) {
    traffic::Outbox out(back.size());
    network_(port, std::move(packet), out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      while (auto departure = out[i].pop()) {
        change(*departure);
        back[i].push(std::move(departure));
      }
    }
  }
  std::uint64_t lies = 0;

 private:
  void change(Packet& packet) {
    const auto frame = engine::parse_frame(packet);
    auto view = wire::parse_panama(frame.payload);
    if (frame.udp != nullptr && view.error == wire::PanamaError::none &&
        view.header->kind == kind_ && ++seen_ % 10 == 0) {
      how_(view);
      wire::seal(*view.header, view.payload);
      ++lies;
    }
  }

  test::SwitchNetwork& network_;
  PanamaKind kind_;
  How how_;
  std::uint64_t seen_ = 0;
};

TEST(PanamaTraffic, CountsEveryWrongPacket) {
  const Liar::How lies[] = {
      [](wire::PanamaView& view) { view.payload[17] ^= std::byte{4}; },
      [](wire::PanamaView& view) { view.header->vid = view.header->vid.value() + 1; },
      [](wire::PanamaView& view) { view.header->run = view.header->run.value() + 1; },
      [](wire::PanamaView& view) { view.header->epoch = view.header->epoch.value() + 1; },
      [](wire::PanamaView& view) { view.header->contributions = std::uint16_t{3}; },
      [](wire::PanamaView& view) {
        view.header->fingerprint = view.header->fingerprint.value() + 1;
      },
      [](wire::PanamaView& view) { view.header->flags ^= wire::PanamaHeader::fin_bit; },
  };
  for (const auto& lie : lies) {
    for (const auto kind : {PanamaKind::result, PanamaKind::aggregation}) {
      test::Bench bench(test::behind_bridge(5));
      auto plan = plan_of(4);
      plan.parent = 4;
      test::SwitchNetwork network(bridge(plan, 5), bench.pool, bench.now);
      Liar liar(network, kind, lie);
      const auto result = run(bench, plan, std::ref(liar));
      EXPECT_GT(liar.lies, 2u);
      EXPECT_EQ(result.wrong, liar.lies);
      EXPECT_GT(result.lost(), 0u);
    }
  }
}

TEST(PanamaTraffic, SurvivesForeignAndBrokenPackets) {
  test::Bench bench(test::behind_bridge(4));
  const auto plan = plan_of(4);
  test::SwitchNetwork network(bridge(plan, 4), bench.pool, bench.now);
  std::uint64_t seen = 0;
  const auto result =
      run(bench, plan, [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
        if (auto noise = bench.pool.clone(*packet)) {
          noise->data()[seen * 13 % noise->length] ^= std::byte{0x10};
          back[port].push(std::move(noise));
        }
        // A worker gets no contributions.
        back[port].push(bench.pool.clone(*packet));
        ++seen;
        network(port, std::move(packet), back);
      });
  EXPECT_GT(result.counters.done, 500u);
  EXPECT_EQ(result.lost(), 0u);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_GT(result.counters.foreign, 1000u);
  EXPECT_GT(figure(result, "invalid"), 100u);
}

}  // namespace
}  // namespace tributary::panama
