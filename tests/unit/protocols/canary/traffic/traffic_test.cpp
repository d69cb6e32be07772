// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/traffic/traffic.h"

#include <functional>

#include <gtest/gtest.h>

#include "engine/frame.h"
#include "protocols/canary/engine/config.h"
#include "support/switch_bench.h"
#include "support/traffic_bench.h"

namespace tributary::canary {
namespace {

using std::chrono::milliseconds;
using test::expect_all_done;
using test::figure;
using test::Ip;
using test::mac;
using wire::CanaryKind;

// A router with one port for each of the generator's.
switching::SwitchConfig router(std::size_t ports, std::uint32_t descriptors = 1024) {
  switching::SwitchConfig config;
  config.name = "s";
  config.id = 1;
  config.address = Ip{10, 255, 0, 1};
  config.protocols.emplace<CanaryConfig>();
  config.protocols.get<CanaryConfig>().descriptors = descriptors;
  for (std::size_t port = 0; port < ports; ++port) {
    const auto subnet = static_cast<std::uint8_t>(port);
    config.ports.push_back(
        test::routed_port("p" + std::to_string(port), subnet, Ip{10, 0, subnet, 254}));
  }
  return config;
}

std::vector<traffic::StationRange> behind_router(std::size_t ports) {
  std::vector<traffic::StationRange> ranges;
  for (std::size_t port = 0; port < ports; ++port) {
    const auto subnet = static_cast<std::uint8_t>(port);
    ranges.push_back({mac(1, subnet), Ip{10, 0, subnet, 1}, 64, {}, Ip{10, 0, subnet, 254}});
  }
  return ranges;
}

traffic::TrialResult run(test::Bench& bench, const TrafficPlan& plan,
                         const test::Bench::Network& network, const traffic::Rate& rate = {}) {
  CanaryTraffic traffic(plan, bench.stations, bench.neighbours, bench.pool);
  return test::run_trial(bench, traffic, network, rate);
}

TEST(CanaryTraffic, TurnsBlocksOverWithoutAnySwitch) {
  for (const int hosts : {2, 3, 8, 64}) {
    test::Bench bench;
    TrafficPlan plan;
    plan.workers = static_cast<std::uint16_t>(hosts);
    plan.elements = 33;
    const auto result = run(bench, plan, test::Bench::loop);
    expect_all_done(result, 100);
    EXPECT_GE(figure(result, "answers_sent"), figure(result, "sums_received"));
  }
}

TEST(CanaryTraffic, TurnsBlocksOverThroughARouter) {
  test::Bench bench(behind_router(1));
  test::SwitchNetwork network(router(1), bench.pool, bench.now);
  const auto result = run(bench, {}, std::ref(network));
  expect_all_done(result, 1000);
  // The switch adds up: the leader sees one packet for seven contributions.
  EXPECT_LT(figure(result, "sums_received"), result.counters.packets / 5);
}

TEST(CanaryTraffic, TurnsBlocksOverByIpv6) {
  test::Bench bench(test::over_ipv6(test::behind_bridge(3, 4)));
  auto config = test::bridge(3);
  config.address = Ip{10, 255, 0, 1};
  config.embedding_prefix = test::embedding;
  config.protocols.emplace<CanaryConfig>();
  test::SwitchNetwork network(config, bench.pool, bench.now);
  TrafficPlan plan;
  plan.workers = 12;
  plan.elements = 33;
  const auto result = run(bench, plan, test::ipv6_only(std::ref(network)));
  expect_all_done(result, 100);
  EXPECT_LT(figure(result, "sums_received"), result.counters.packets / 2);
  constexpr std::uint32_t bytes =
      24 + 14 + 40 + 8 + sizeof(wire::CanaryHeader) + 33 * sizeof(float);
  EXPECT_EQ(result.counters.line_bytes, result.counters.packets * bytes);
}

TEST(CanaryTraffic, SpreadsWorkersOverPorts) {
  test::Bench bench(behind_router(3));
  test::SwitchNetwork network(router(3), bench.pool, bench.now);
  TrafficPlan plan;
  plan.workers = 16;
  expect_all_done(run(bench, plan, std::ref(network)), 100);
}

TEST(CanaryTraffic, RunsDirectlyOverEthernet) {
  test::Bench bench(behind_router(2));
  test::SwitchNetwork network(router(2), bench.pool, bench.now);
  TrafficPlan plan;
  plan.encapsulation = wire::Encapsulation::ethernet;
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
}

TEST(CanaryTraffic, CrossesABridge) {
  switching::SwitchConfig config;
  config.name = "b";
  config.id = 1;
  config.address = Ip{10, 0, 0, 254};
  config.bridge_address = forwarding::InterfaceAddress{Ip{10, 0, 0, 254}, 24};
  config.protocols.emplace<CanaryConfig>();
  config.ports = {test::bridged_port("a", 1), test::bridged_port("b", 2)};
  test::Bench bench(
      {{mac(1), Ip{10, 0, 0, 1}, 32, {}, {}}, {mac(101), Ip{10, 0, 0, 101}, 32, {}, {}}});
  test::SwitchNetwork network(config, bench.pool, bench.now);
  expect_all_done(run(bench, {}, std::ref(network)), 1000);
}

TEST(CanaryTraffic, RunsJobsOfAllTypesAndOperators) {
  test::Bench bench(behind_router(1));
  test::SwitchNetwork network(router(1, 4096), bench.pool, bench.now);
  TrafficPlan plan;
  plan.kinds = test::all_reductions();
  plan.jobs = static_cast<std::uint32_t>(plan.kinds.size());
  plan.window = 2;
  plan.interleave = 2;
  plan.elements = 80;
  expect_all_done(run(bench, plan, std::ref(network)), 1000);
}

TEST(CanaryTraffic, RestoresWhatCollided) {
  test::Bench bench(behind_router(1));
  test::SwitchNetwork network(router(1, 8), bench.pool, bench.now);
  TrafficPlan plan;
  plan.window = 64;
  plan.interleave = 64;
  const auto result = run(bench, plan, std::ref(network));
  expect_all_done(result, 200);
  EXPECT_GT(figure(result, "restorations_sent"), 100u);
}

TEST(CanaryTraffic, GivesLostBlocksUpAndGoesOn) {
  test::Bench bench(behind_router(1));
  test::SwitchNetwork network(router(1), bench.pool, bench.now);
  std::uint64_t seen = 0;
  TrafficPlan plan;
  plan.block_timeout = milliseconds(4);
  const auto result =
      run(bench, plan, [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
        if (++seen % 500 != 0) {
          network(port, std::move(packet), back);
        }
      });
  EXPECT_GT(result.counters.done, 500u);
  EXPECT_GT(result.lost(), 10u);
  EXPECT_EQ(result.lost(), figure(result, "blocks_given_up"));
  EXPECT_EQ(result.wrong, 0u);
}

TEST(CanaryTraffic, KeepsToTheRate) {
  test::Bench bench(behind_router(1));
  test::SwitchNetwork network(router(1), bench.pool, bench.now);
  const auto result = run(bench, {}, std::ref(network), {traffic::Rate::Unit::packets, 100e3});
  EXPECT_NEAR(result.packets_per_second(), 100e3, 1000);
  expect_all_done(result, 250);
}

// When a queue marks one contribution, all ranks hear of it.
TEST(CanaryTraffic, CarriesCongestionBackToAllRanks) {
  test::Bench bench;
  std::uint64_t told = 0;
  std::uint64_t mistaken = 0;
  const auto is_marked = [](const wire::CanaryHeader& header) {
    return header.id.value() % 2 == 0;
  };
  const auto network = [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
    const auto frame = engine::parse_frame(*packet);
    const auto view = wire::parse_canary(frame.payload, wire::Encapsulation::udp);
    auto* header = view.error == wire::CanaryError::none ? view.header : nullptr;
    if (header != nullptr && header->kind == CanaryKind::contribution && is_marked(*header) &&
        header->rank.value() == (header->id.value() + 1) % 8) {
      header->flags |= wire::CanaryHeader::congested_bit;
      wire::reseal(*header);
    } else if (header != nullptr && header->kind == CanaryKind::result) {
      ++(header->congested() == is_marked(*header) ? told : mistaken);
    }
    back[port].push(std::move(packet));
  };
  expect_all_done(run(bench, {}, network), 100);
  EXPECT_GT(told, 100u);
  EXPECT_EQ(mistaken, 0u);
}

// A loop that changes the Canary packets of one kind, and seals them again.
test::Bench::Network change(CanaryKind kind, std::function<void(wire::CanaryView&)> how) {
  return [kind, how = std::move(how)](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
    auto frame = engine::parse_frame(*packet);
    if (frame.udp != nullptr) {
      auto view = wire::parse_canary(frame.payload, wire::Encapsulation::udp);
      if (view.error == wire::CanaryError::none && view.header->kind == kind) {
        how(view);
        wire::seal(*view.header, view.payload);
      }
    }
    back[port].push(std::move(packet));
  };
}

// Changes one bit of the payload of every tenth packet of a kind.
class Liar {
 public:
  test::Bench::Network network(CanaryKind kind) {
    return change(kind, [this](wire::CanaryView& view) {
      if (++seen_ % 10 == 0) {
        view.payload[17] ^= std::byte{4};
        ++lies;
      }
    });
  }
  std::uint64_t lies = 0;

 private:
  std::uint64_t seen_ = 0;
};

TEST(CanaryTraffic, CountsEveryWrongResult) {
  test::Bench bench;
  Liar liar;
  TrafficPlan plan;
  plan.block_timeout = milliseconds(4);
  const auto result = run(bench, plan, liar.network(CanaryKind::result));
  EXPECT_GT(liar.lies, 10u);
  EXPECT_EQ(result.wrong, liar.lies);
}

TEST(CanaryTraffic, LeaderNoticesAWrongSum) {
  test::Bench bench;
  Liar liar;
  TrafficPlan plan;
  plan.workers = 2;
  const auto result = run(bench, plan, liar.network(CanaryKind::contribution));
  EXPECT_GT(liar.lies, 10u);
  EXPECT_EQ(result.wrong, liar.lies);
  EXPECT_EQ(result.lost(), figure(result, "blocks_given_up"));
}

TEST(CanaryTraffic, DoesNotTakeTheSumOfAnotherBlock) {
  test::Bench bench;
  TrafficPlan plan;
  plan.block_timeout = milliseconds(4);
  // The result of a block under the id of the next.
  const auto result = run(bench, plan, change(CanaryKind::result, [](wire::CanaryView& view) {
                            view.header->id = view.header->id.value() + 1;
                            view.header->fingerprint = traffic::total_tag(view.header->key(), 8);
                          }));
  EXPECT_GT(result.wrong, 1000u);
  EXPECT_EQ(result.counters.done, 0u);
}

TEST(CanaryTraffic, LeaderNoticesAForeignContribution) {
  test::Bench bench;
  std::uint64_t seen = 0;
  std::uint64_t lies = 0;
  const auto result = run(bench, {}, change(CanaryKind::contribution, [&](wire::CanaryView& view) {
                            if (++seen % 100 == 0) {
                              view.header->fingerprint = view.header->fingerprint.value() + 1;
                              ++lies;
                            }
                          }));
  EXPECT_GT(result.lost(), lies / 2);
  EXPECT_LE(result.lost(), lies);  // some were told in the warm-up
  EXPECT_EQ(figure(result, "fingerprint_mismatches"), result.lost());
  EXPECT_EQ(result.wrong, 0u);
}

TEST(CanaryTraffic, AnswersEachSenderOnce) {
  test::Bench bench;
  TrafficPlan plan;
  plan.block_timeout = milliseconds(4);
  // All packets that come are from one switch.
  const auto result = run(bench, plan, change(CanaryKind::contribution, [](wire::CanaryView& view) {
                            view.header->child_address = Ip{10, 0, 0, 2};
                          }));
  EXPECT_EQ(figure(result, "sums_received"), 7 * result.counters.begun);
  EXPECT_EQ(figure(result, "answers_sent"), result.counters.begun);
}

TEST(CanaryTraffic, SurvivesForeignAndBrokenPackets) {
  test::Bench bench;
  std::uint64_t seen = 0;
  const auto result =
      run(bench, {}, [&](std::size_t port, PacketPtr packet, traffic::Outbox& back) {
        auto copy = bench.pool.clone(*packet);
        if (copy != nullptr) {
          copy->length = static_cast<std::uint32_t>(seen * 7 % copy->length);
          back[port].push(std::move(copy));
        }
        if (auto noise = bench.pool.clone(*packet)) {
          noise->data()[seen * 13 % noise->length] ^= std::byte{0x10};
          back[port].push(std::move(noise));
        }
        ++seen;
        back[port].push(std::move(packet));
      });
  EXPECT_GT(result.counters.done, 10u);
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_GT(result.counters.foreign, 100u);
  EXPECT_GT(figure(result, "invalid"), 100u);
}

}  // namespace
}  // namespace tributary::canary
