// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/traffic/sparse_traffic.h"

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

traffic::TreePlan sparse_plan_of(std::uint16_t workers) {
  traffic::TreePlan plan;
  plan.workers = workers;
  plan.group = Ip(239, 192, 0, 1);
  plan.window = 8;
  plan.block_timeout = milliseconds(4);
  return plan;
}

// A packet of 20 pairs of f32, of one element in 10.
constexpr SparsePlan one_packet{.spacing = 10, .shards = 1, .pairs = 20, .full = 128};
// There are so many elements that a switch below others keeps pairs in a hash table.
constexpr SparsePlan many_packets{.spacing = 12, .shards = 4, .pairs = 10, .full = 64};
// Runs of all elements.
constexpr SparsePlan runs_only{.spacing = 1, .shards = 3, .pairs = 10, .full = 64};

// A bridge with one port for each of the generator's, and the trees of the plan.
switching::SwitchConfig sparse_bridge(const traffic::TreePlan& plan, std::size_t ports) {
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
    tree.window = 1;
    tree.sparse_window = plan.window;
    needed += buffers_of(tree);
    flare.trees.push_back(tree);
  }
  flare.working_memory = static_cast<std::uint32_t>(needed);
  return config;
}

traffic::TrialResult run_sparse(test::Bench& bench, const traffic::TreePlan& plan,
                                const SparsePlan& sparse, const test::Bench::Network& network,
                                const traffic::Rate& rate = {}) {
  FlareSparseTraffic traffic(plan, sparse, bench.stations, bench.pool);
  return test::run_trial(bench, traffic, network, rate);
}

TEST(FlareSparseTraffic, TurnsBlocksOverAtTheRoot) {
  for (const auto& sparse : {one_packet, many_packets, runs_only}) {
    test::Bench bench(test::behind_bridge(4));
    const auto plan = sparse_plan_of(4);
    test::SwitchNetwork network(sparse_bridge(plan, 4), bench.pool, bench.now);
    const auto result = run_sparse(bench, plan, sparse, std::ref(network));
    expect_all_done(result, 200);
    EXPECT_GE(figure(result, "results_received"), 4 * result.counters.done);
    EXPECT_EQ(figure(result, "sums_received"), 0u);
    EXPECT_EQ(figure(result, "retransmissions_sent"), 0u);
    EXPECT_EQ(network.device().ledger().dropped(), 0u);
  }
}

TEST(FlareSparseTraffic, PlaysTheRoot) {
  for (const auto& sparse : {one_packet, many_packets, runs_only}) {
    test::Bench bench(test::behind_bridge(5));
    auto plan = sparse_plan_of(4);
    plan.parent = 4;
    test::SwitchNetwork network(sparse_bridge(plan, 5), bench.pool, bench.now);
    const auto result = run_sparse(bench, plan, sparse, std::ref(network));
    expect_all_done(result, 100);
    EXPECT_EQ(figure(result, "sums_received"), figure(result, "answers_sent"));
    EXPECT_GE(figure(result, "sums_received"), result.counters.done);
  }
}

TEST(FlareSparseTraffic, SumsThatWereSpilledAreRight) {
  test::Bench bench(test::behind_bridge(5));
  auto plan = sparse_plan_of(4);
  plan.parent = 4;
  test::SwitchNetwork network(sparse_bridge(plan, 5), bench.pool, bench.now);
  expect_all_done(run_sparse(bench, plan, many_packets, std::ref(network)), 100);
  EXPECT_GT(figure(network, "sparse_spills_total"), 100u);
}

TEST(FlareSparseTraffic, RunsJobsOfAllTypes) {
  test::Bench bench(test::behind_bridge(4));
  auto plan = sparse_plan_of(3);
  plan.kinds.clear();
  for (std::size_t type = 0; wire::is_flare_sparse_type(static_cast<wire::ElementType>(type));
       ++type) {
    plan.kinds.push_back({static_cast<wire::ElementType>(type), wire::Operator::sum});
  }
  plan.jobs = static_cast<std::uint32_t>(plan.kinds.size());
  plan.parent = 3;
  test::SwitchNetwork network(sparse_bridge(plan, 4), bench.pool, bench.now);
  const SparsePlan sparse{.spacing = 4, .shards = 2, .pairs = 6, .full = 64};
  expect_all_done(run_sparse(bench, plan, sparse, std::ref(network)), 200);
}

TEST(FlareSparseTraffic, EveryFlowOfAJobHasItsSourcePort) {
  test::Bench bench(test::behind_bridge(2));
  const auto plan = sparse_plan_of(2);
  test::SwitchNetwork network(sparse_bridge(plan, 2), bench.pool, bench.now);
  std::set<std::uint16_t> ports;
  run_sparse(bench, plan, one_packet,
             [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
               const auto frame = engine::parse_frame(*packet);
               if (frame.udp != nullptr) {
                 EXPECT_EQ(frame.udp->source_port.value(),
                           wire::source_port_of(wire::peek_flare_key(frame.payload)));
                 ports.insert(frame.udp->source_port.value());
               }
               network(port, std::move(packet), back);
             });
  EXPECT_EQ(ports.size(), 16u) << "slots";
}

TEST(FlareSparseTraffic, SendsAgainWhatWasLost) {
  for (const bool plays_root : {false, true}) {
    test::Bench bench(test::behind_bridge(5));
    auto plan = sparse_plan_of(4);
    plan.block_timeout = milliseconds(1);
    if (plays_root) {
      plan.parent = 4;
    }
    test::SwitchNetwork network(sparse_bridge(plan, 5), bench.pool, bench.now);
    std::uint64_t seen = 0;
    const auto result = run_sparse(bench, plan, many_packets,
                                   [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
                                     if (++seen % 500 != 0) {
                                       network(port, std::move(packet), back);
                                     }
                                   });
    EXPECT_GT(result.counters.done, 20u);
    EXPECT_GE(result.lost(), 2u);
    EXPECT_EQ(result.lost(), figure(result, "blocks_overdue"));
    EXPECT_GE(figure(result, "retransmissions_sent"), result.lost());
    EXPECT_EQ(figure(result, "blocks_given_up"), 0u);
    EXPECT_EQ(result.wrong, 0u);
  }
}

TEST(FlareSparseTraffic, GivesUpWhereNobodyAnswers) {
  test::Bench bench(test::behind_bridge(4));
  auto plan = sparse_plan_of(4);
  plan.block_timeout = milliseconds(1);
  const auto result =
      run_sparse(bench, plan, many_packets, [](std::size_t, PacketPtr, traffic::Outbox&) {});
  EXPECT_EQ(result.counters.done, 0u);
  EXPECT_GE(figure(result, "blocks_given_up"), 8u);
  EXPECT_GE(figure(result, "retransmissions_sent"), 3 * 8 * 4 * 4u) << "packets";
}

// A switch behind which every tenth packet of one kind is changed, and sealed again.
class SparseLiar {
 public:
  using How = std::function<void(wire::FlareSparseView&)>;

  SparseLiar(test::SwitchNetwork& network, FlareKind kind, How how)
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
    auto view = wire::parse_flare_sparse(frame.payload);
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

TEST(FlareSparseTraffic, CountsEveryWrongPacket) {
  const SparseLiar::How lies[] = {
      [](wire::FlareSparseView& view) { view.payload[4] ^= std::byte{4}; },
      [](wire::FlareSparseView& view) { view.payload[6] ^= std::byte{1}; },
      [](wire::FlareSparseView& view) { view.header->run = view.header->run.value() + 1; },
      [](wire::FlareSparseView& view) { view.header->window = std::uint16_t{7}; },
      [](wire::FlareSparseView& view) {
        view.header->fingerprint = view.header->fingerprint.value() + 1;
      },
  };
  for (const auto& lie : lies) {
    for (const auto kind : {FlareKind::result, FlareKind::contribution}) {
      test::Bench bench(test::behind_bridge(5));
      auto plan = sparse_plan_of(4);
      plan.parent = 4;
      test::SwitchNetwork network(sparse_bridge(plan, 5), bench.pool, bench.now);
      SparseLiar liar(network, kind, lie);
      const SparsePlan few{.spacing = 4, .shards = 1, .pairs = 3, .full = 128};
      const auto result = run_sparse(bench, plan, few, std::ref(liar));
      EXPECT_GT(liar.lies, 2u);
      EXPECT_EQ(result.wrong, liar.lies);
      EXPECT_GT(result.lost(), 0u);
    }
  }
}

TEST(FlareSparseTraffic, SurvivesForeignAndBrokenPackets) {
  test::Bench bench(test::behind_bridge(4));
  const auto plan = sparse_plan_of(4);
  test::SwitchNetwork network(sparse_bridge(plan, 4), bench.pool, bench.now);
  std::uint64_t seen = 0;
  const auto result = run_sparse(bench, plan, one_packet,
                                 [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
                                   if (auto noise = bench.pool.clone(*packet)) {
                                     noise->data()[seen * 13 % noise->length] ^= std::byte{0x10};
                                     back[port].push(std::move(noise));
                                   }
                                   // A worker gets no contributions.
                                   back[port].push(bench.pool.clone(*packet));
                                   ++seen;
                                   network(port, std::move(packet), back);
                                 });
  EXPECT_GT(result.counters.done, 100u);
  EXPECT_EQ(result.lost(), 0u);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_GT(result.counters.foreign, 500u);
  EXPECT_GT(figure(result, "invalid"), 50u);
}

}  // namespace
}  // namespace tributary::flare
