// SPDX-License-Identifier: BSD-3-Clause
// Tests a link from a spine to a leaf that other traffic fills, which no other leaf can see.
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "support/fat_tree.h"
#include "support/frames.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t link_bps = 100'000'000;
constexpr std::uint32_t marked_above = 20;  // packets that wait
constexpr unsigned hosts_of_a_leaf = 3;     // two of them reduce, the third sends to that of leaf 1
const wire::Ipv4Address crowded_host(10, 1, 3, 2);

struct Choice {
  std::optional<forwarding::BfdConfig> bfd;
  forwarding::Policy reduction = forwarding::Policy::adaptive;
  std::uint32_t unmarked_most = 85;  // packets that wait unmarked; the queues hold 64
};

FabricSpec with_a_way_for_all(const Choice& choice) {
  FatTree shape;
  shape.hosts_per_leaf = hosts_of_a_leaf;
  shape.spines = 4;
  shape.rate_bps = link_bps;
  auto spec = make_fat_tree(shape);
  for (auto& section : spec.switches) {
    auto& config = section.config;
    config.bfd = choice.bfd;
    config.selection.policies.reduction = choice.reduction;
    for (auto& port : config.ports) {
      port.queue.capacity_bytes = 96 * 1024;
      port.queue.ecn_threshold_packets = choice.unmarked_most;
    }
    if (config.name.starts_with("leaf") && config.name != "leaf1") {
      const wire::Ipv4Address by_spine1(10, 101, static_cast<std::uint8_t>(config.id), 2);
      config.routes.push_back({{crowded_host, 32}, {by_spine1}, {}, {}});
    }
  }
  for (auto& host : spec.hosts) {
    host.rate_bps = link_bps;
  }
  return spec;
}

// Returns the time of an allreduce while three hosts together send 120 % of what the link from
// spine 1 to leaf 1 carries, each of them 40 % of its own link.
Duration beside_a_full_link(const Choice& choice, std::size_t count = 1 << 17) {
  HeapPacketPool pool(VirtualFabric::pool_packets, VirtualFabric::frame_bytes_max);
  VirtualFabric fabric(with_a_way_for_all(choice), &pool);
  std::array<std::function<void()>, 3> senders;
  for (std::size_t leaf = 0; leaf < senders.size(); ++leaf) {
    const auto host = (leaf + 1) * hosts_of_a_leaf + 2;
    senders[leaf] = [&fabric, &pool, &senders, leaf, host] {
      const Endpoints ends{{}, {}, fabric.endpoint(host, 9).address, crowded_host};
      fabric.inject(host, make_udp(pool, ends, 9, 9, 1460));
      fabric.at(fabric.now() + 305us, senders[leaf]);
    };
    fabric.at(fabric.now(), senders[leaf]);
  }
  bool settled = false;  // sessions come up slowly
  fabric.at(fabric.now() + 3s, [&settled] { settled = true; });
  fabric.run_while([&settled] { return !settled; }, 5s);
  Workers workers(fabric,
                  {.payload_bytes = 1408, .window = 40, .hosts = {0, 1, 3, 4, 6, 7, 9, 10}});
  const auto start = fabric.now();
  workers.begin(count, 60s);
  fabric.run(60s);
  EXPECT_TRUE(workers.all_done());
  EXPECT_TRUE(workers.never_wrong());
  return fabric.now() - start;
}

TEST(FullLink, LeavesThatHearOfItTakeOtherSpines) {
  const auto unheard = beside_a_full_link({});
  const auto heard = beside_a_full_link({forwarding::BfdConfig{100ms, 3}});
  EXPECT_LT(heard, unheard * 4 / 5);
}

TEST(FullLink, LeavesGiveUpASpineWhoseBlocksAreMarked) {
  constexpr std::size_t long_enough = 1 << 21;
  const auto kept = beside_a_full_link(
      {.reduction = forwarding::Policy::ecmp, .unmarked_most = marked_above}, long_enough);
  const auto left = beside_a_full_link({.unmarked_most = marked_above}, long_enough);
  EXPECT_LT(left, kept * 4 / 5);
}

}  // namespace
}  // namespace tributary::test
