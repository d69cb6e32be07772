// SPDX-License-Identifier: BSD-3-Clause
#include "pcap_feed.h"

#include <cstring>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "bench.h"
#include "protocols/canary/engine/config.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "support/switch_bench.h"

namespace tributary::pktgen {
namespace {

using test::Ip;
using test::mac;

constexpr std::uint8_t hosts = 8;

// A router whose only port is fed, and which knows the leaders.
switching::SwitchConfig fed_router() {
  switching::SwitchConfig config;
  config.name = "s";
  config.id = 1;
  config.address = Ip{10, 255, 0, 1};
  config.protocols.emplace<canary::CanaryConfig>();
  config.ports = {test::routed_port("feed", 0, Ip{10, 0, 0, 254})};
  for (std::uint8_t i = 1; i <= hosts; ++i) {
    config.arp.push_back({Ip{10, 0, 0, i}, mac(i)});
  }
  return config;
}

std::uint64_t figure(const test::SwitchNetwork& network, std::string_view name) {
  const auto engines = network.device().engines();
  for (const auto& figure : engines.at(0).engine->figures()) {
    if (figure.name == name) {
      return figure.value;
    }
  }
  return ~std::uint64_t{0};
}

TEST(FeedCanary, CanBeReplayedForEver) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, hosts, mac(0, 0xee), {}}});
  for (const std::uint32_t interleave : {1u, 7u, 64u}) {
    test::SwitchNetwork network(fed_router(), bench.pool, bench.now);
    CanaryPlan plan;
    plan.hosts = hosts;
    plan.interleave = interleave;
    std::vector<std::vector<std::byte>> file;
    feed_canary(plan, bench.stations, bench.pool, 64, Ip{10, 255, 0, 1}, [&](const Packet& frame) {
      const auto bytes = frame.bytes();
      file.emplace_back(bytes.begin(), bytes.end());
    });
    EXPECT_EQ(file.size(), 64u * hosts);
    constexpr std::uint64_t passes = 3;
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      for (const auto& frame : file) {
        auto packet = bench.pool.allocate();
        packet->length = static_cast<std::uint32_t>(frame.size());
        std::memcpy(packet->data(), frame.data(), frame.size());
        network(0, std::move(packet), bench.back);
        bench.back[0].clear();
      }
    }
    EXPECT_EQ(figure(network, "contributions_total"), passes * 64 * (hosts - 1));
    EXPECT_EQ(figure(network, "partial_sums_complete_total"), passes * 64);
    EXPECT_EQ(figure(network, "results_total"), passes * 64);
    EXPECT_EQ(figure(network, "result_copies_total"), passes * 64 * (hosts - 1));
    EXPECT_EQ(figure(network, "descriptors_in_use"), 0u);
    EXPECT_EQ(network.device().ledger().dropped(), 0u);
  }
}

// A root with a port for each worker, and memory for no more than each tree's initial window.
switching::SwitchConfig fed_root(const PanamaPlan& plan) {
  switching::SwitchConfig config;
  config.name = "s";
  config.id = 1;
  config.address = Ip{10, 255, 0, 1};
  config.protocols.emplace<panama::PanamaConfig>();
  config.protocols.get<panama::PanamaConfig>().packet_memory =
      plan.jobs * plan.trees * panama::initial_window;
  std::vector<PortIndex> children;
  for (std::uint8_t port = 0; port < plan.workers; ++port) {
    config.ports.push_back(test::bridged_port("feed" + std::to_string(port), port));
    children.push_back(port);
  }
  for (std::uint32_t i = 0; i < plan.jobs * plan.trees; ++i) {
    config.protocols.get<panama::PanamaConfig>().trees.push_back(
        {plan.first_job + i / plan.trees, static_cast<std::uint16_t>(i % plan.trees),
         wire::Ipv4Address(plan.group.value() + i), children, std::nullopt, plan.workers,
         plan.workers, plan.workers});
  }
  return config;
}

TEST(FeedPanama, CanBeReplayedForEver) {
  constexpr std::uint64_t burst = 32;
  constexpr std::uint64_t passes = 3;
  std::vector<StationRange> ranges;
  for (std::uint8_t port = 0; port < hosts; ++port) {
    ranges.push_back({mac(1, port), Ip{10, 0, port, 1}, 1, {}, {}});
  }
  test::Bench bench(ranges);
  PanamaPlan plan;
  plan.workers = hosts;
  plan.jobs = 8;
  plan.trees = 2;
  plan.group = Ip{239, 192, 0, 1};
  plan.collective = 4;
  test::SwitchNetwork network(fed_root(plan), bench.pool, bench.now);
  std::vector<std::vector<std::vector<std::byte>>> files(hosts);
  feed_panama(plan, bench.stations, bench.pool, panama_collectives_min,
              [&](std::size_t port, const Packet& frame) {
                const auto bytes = frame.bytes();
                files[port].emplace_back(bytes.begin(), bytes.end());
              });
  const auto frames = std::uint64_t{plan.jobs} * plan.trees * plan.collective * 9;
  // The end of the last tree's last collective is lost once: there is no pause in which the switch
  // would take an older one.
  const auto lost = frames - 1;
  // As a core polls its ports: a burst of each.
  for (std::uint64_t first = 0; first < passes * frames; first += burst) {
    for (std::size_t port = 0; port < hosts; ++port) {
      ASSERT_EQ(files[port].size(), frames);
      for (auto i = first; i < first + burst; ++i) {
        const auto& frame = files[port][i % frames];
        if (port == 3 && i == lost) {
          continue;
        }
        auto packet = bench.pool.allocate();
        packet->length = static_cast<std::uint32_t>(frame.size());
        std::memcpy(packet->data(), frame.data(), frame.size());
        network(port, std::move(packet), bench.back);
        for (auto& queue : bench.back) {
          queue.clear();
        }
      }
    }
  }
  EXPECT_EQ(figure(network, "contributions_total"), passes * frames * hosts - 1);
  EXPECT_EQ(figure(network, "results_total"), passes * frames - 1);
  EXPECT_EQ(figure(network, "trees_active"), 0u);
  EXPECT_EQ(network.device().ledger().dropped(), 0u);
}

TEST(FeedNetReduce, CanBeReplayedForEver) {
  constexpr std::uint32_t messages = 4;
  constexpr std::uint64_t passes = 4;
  NetReducePlan plan;
  plan.workers = hosts;
  plan.message_packets = 10;
  for (const std::uint32_t interleave : {1u, 7u, 64u}) {
    test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, hosts, mac(0, 0xee), {}}});
    auto config = fed_router();
    config.protocols.reset<canary::CanaryConfig>();
    auto& ring = config.protocols.emplace<netreduce::NetReduceConfig>().rings.emplace_back();
    ring.id = plan.first_ring;
    ring.message_packets = plan.message_packets;
    for (std::uint8_t i = 1; i <= hosts; ++i) {
      ring.members.emplace_back(Ip{10, 0, 0, i});
    }
    test::SwitchNetwork network(config, bench.pool, bench.now);
    plan.interleave = interleave;
    std::vector<std::vector<std::byte>> file;
    feed_netreduce(plan, bench.stations, bench.pool, messages, [&](const Packet& frame) {
      const auto bytes = frame.bytes();
      file.emplace_back(bytes.begin(), bytes.end());
    });
    constexpr std::uint64_t blocks = netreduce_runs * (1 + (messages - 1) * 10);
    EXPECT_EQ(file.size(), blocks * hosts);
    for (std::uint64_t pass = 0; pass < passes; ++pass) {
      for (const auto& frame : file) {
        auto packet = bench.pool.allocate();
        packet->length = static_cast<std::uint32_t>(frame.size());
        std::memcpy(packet->data(), frame.data(), frame.size());
        network(0, std::move(packet), bench.back);
        bench.back[0].clear();
      }
    }
    EXPECT_EQ(figure(network, "sums_total"), passes * blocks);
    EXPECT_EQ(figure(network, "results_total"), passes * blocks * hosts);
    EXPECT_EQ(figure(network, "runs"), passes * netreduce_runs);
    EXPECT_EQ(network.device().ledger().dropped(), 0u);
  }
}

TEST(FeedPlain, WritesAsManyAsAskedFor) {
  test::Bench bench;
  std::size_t frames = 0;
  std::size_t bytes = 0;
  feed_plain({*FrameSizes::parse("imix"), {{0, 0}}, 1}, bench.stations, bench.pool, 24,
             [&](const Packet& frame) {
               ++frames;
               bytes += frame.length;
             });
  EXPECT_EQ(frames, 24u);
  EXPECT_EQ(bytes, 14u * 60 + 8 * 566 + 2 * 1514);
}

}  // namespace
}  // namespace tributary::pktgen
