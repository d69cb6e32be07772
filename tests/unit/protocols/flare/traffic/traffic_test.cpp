// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/traffic.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "engine/frame.h"
#include "protocols/flare/engine/config.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"

namespace tributary::flare {
namespace {

using std::chrono::milliseconds;
using test::expect_all_done;
using test::figure;
using test::Ip;
using wire::FlareKind;

traffic::TreePlan plan_of(std::uint16_t workers) {
  traffic::TreePlan plan;
  plan.workers = workers;
  plan.group = Ip(239, 192, 0, 1);
  plan.elements = 33;
  plan.block_timeout = milliseconds(4);
  return plan;
}

// A bridge with one port for each of the generator's, and the trees of the plan.
switching::SwitchConfig bridge(const traffic::TreePlan& plan, std::size_t ports) {
  auto config = test::bridge(ports);
  config.address = Ip(10, 0, 255, 1);
  auto& flare = config.protocols.emplace<FlareConfig>();
  const traffic::TreePlaces places(plan, ports);
  std::uint64_t needed = 0;
  for (std::uint32_t job = 0; job < plan.jobs; ++job) {
    TreeConfig tree;
    tree.job = plan.first_job + job;
    tree.group = wire::Ipv4Address(plan.group.value() + job);
    for (std::uint32_t rank = 0; rank < plan.workers; ++rank) {
      tree.children.push_back(static_cast<PortIndex>(places.port_of(job, rank)));
    }
    if (plan.parent) {
      tree.parent = static_cast<PortIndex>(*plan.parent);
    }
    tree.workers = tree.workers_below = plan.workers;
    tree.window = plan.window;
    needed += buffers_of(tree);
    flare.trees.push_back(tree);
  }
  flare.working_memory = static_cast<std::uint32_t>(needed);
  return config;
}

traffic::TrialResult run(test::Bench& bench, const traffic::TreePlan& plan,
                         const test::Bench::Network& network, const traffic::Rate& rate = {}) {
  FlareTraffic traffic(plan, bench.stations, bench.pool);
  return test::run_trial(bench, traffic, network, rate);
}

TEST(FlareTraffic, TurnsBlocksOverAtTheRoot) {
  for (const auto workers : {std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}}) {
    test::Bench bench(test::behind_bridge(workers));
    const auto plan = plan_of(workers);
    test::SwitchNetwork network(bridge(plan, workers), bench.pool, bench.now);
    const auto result = run(bench, plan, std::ref(network));
    expect_all_done(result, 1000);
    EXPECT_GE(figure(result, "results_received"), workers * result.counters.done);
    EXPECT_EQ(figure(result, "sums_received"), 0u);
    EXPECT_EQ(figure(result, "retransmissions_sent"), 0u);
    // With a single port no station hears its ARP requests.
    EXPECT_EQ(network.device().ledger().dropped(), workers == 1 ? 1u : 0u);
  }
}

TEST(FlareTraffic, TurnsBlocksOverByIpv6) {
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

TEST(FlareTraffic, PlaysTheRoot) {
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

TEST(FlareTraffic, SpreadsJobsOverPorts) {
  test::Bench bench(test::behind_bridge(5));
  auto plan = plan_of(3);
  plan.jobs = 7;
  plan.parent = 1;
  test::SwitchNetwork network(bridge(plan, 5), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

TEST(FlareTraffic, RunsJobsOfAllTypesAndOperators) {
  test::Bench bench(test::behind_bridge(3));
  auto plan = plan_of(3);
  plan.kinds = test::all_reductions();
  plan.jobs = static_cast<std::uint32_t>(plan.kinds.size());
  plan.window = 8;
  test::SwitchNetwork network(bridge(plan, 3), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
}

// Cores own blocks by their flow, and a card knows flows by the source port.
TEST(FlareTraffic, EveryFlowOfAJobHasItsSourcePort) {
  test::Bench bench(test::behind_bridge(2));
  const auto plan = plan_of(2);
  test::SwitchNetwork network(bridge(plan, 2), bench.pool, bench.now);
  std::set<std::uint16_t> ports;
  run(bench, plan, [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
    const auto frame = engine::parse_frame(*packet);
    if (frame.udp != nullptr) {
      EXPECT_EQ(frame.udp->source_port.value(),
                wire::source_port_of(wire::peek_flare_key(frame.payload)));
      ports.insert(frame.udp->source_port.value());
    }
    network(port, std::move(packet), back);
  });
  EXPECT_GT(ports.size(), wire::flare_flows / 2);
}

// No block is sent that is a window or more beyond one that a worker lacks.
TEST(FlareTraffic, KeepsToTheWindow) {
  test::Bench bench(test::behind_bridge(4));
  auto plan = plan_of(4);
  plan.window = 5;
  plan.interleave = 64;
  test::SwitchNetwork network(bridge(plan, 4), bench.pool, bench.now);
  expect_all_done(run(bench, plan, std::ref(network)), 500);
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

// A repeated block does not count as one without loss, but those behind it do.
TEST(FlareTraffic, SendsAgainWhatWasLost) {
  for (const bool plays_root : {false, true}) {
    test::Bench bench(test::behind_bridge(5));
    auto plan = plan_of(4);
    plan.block_timeout = milliseconds(1);
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
    EXPECT_EQ(result.lost(), figure(result, "blocks_overdue"));
    EXPECT_GE(figure(result, "retransmissions_sent"), result.lost());
    EXPECT_EQ(figure(result, "blocks_given_up"), 0u);
    EXPECT_EQ(result.wrong, 0u);
  }
}

TEST(FlareTraffic, GivesUpWhereNobodyAnswers) {
  test::Bench bench(test::behind_bridge(4));
  auto plan = plan_of(4);
  plan.block_timeout = milliseconds(1);
  plan.window = 8;
  const auto result = run(bench, plan, [](std::size_t, PacketPtr, traffic::Outbox&) {});
  EXPECT_EQ(result.counters.done, 0u);
  EXPECT_GE(result.lost(), 8u);
  EXPECT_GE(figure(result, "blocks_given_up"), 8u);
  EXPECT_GE(figure(result, "retransmissions_sent"), 3 * 8 * 4u);
}

TEST(FlareTraffic, KeepsToTheRate) {
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
  using How = std::function<void(wire::FlareView&)>;

  Liar(test::SwitchNetwork& network, FlareKind kind, How how)
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
    auto view = wire::parse_flare(frame.payload);
    if (frame.udp != nullptr && view.error == wire::FlareError::none &&
        view.header->kind == kind_ && ++seen_ % 10 == 0) {
      how_(view);
      wire::seal(*view.header, view.payload);
      ++lies;
    }
  }

  test::SwitchNetwork& network_;
  FlareKind kind_;
  How how_;
  std::uint64_t seen_ = 0;
};

TEST(FlareTraffic, CountsEveryWrongPacket) {
  const Liar::How lies[] = {
      [](wire::FlareView& view) { view.payload[17] ^= std::byte{4}; },
      [](wire::FlareView& view) { view.header->block = view.header->block.value() + 1; },
      [](wire::FlareView& view) { view.header->run = view.header->run.value() + 1; },
      [](wire::FlareView& view) { view.header->contributions = std::uint16_t{3}; },
      [](wire::FlareView& view) { view.header->window = std::uint16_t{63}; },
      [](wire::FlareView& view) {
        view.header->fingerprint = view.header->fingerprint.value() + 1;
      },
  };
  for (const auto& lie : lies) {
    for (const auto kind : {FlareKind::result, FlareKind::contribution}) {
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

TEST(FlareTraffic, SurvivesForeignAndBrokenPackets) {
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
}  // namespace tributary::flare
