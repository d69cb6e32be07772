// SPDX-License-Identifier: BSD-3-Clause
// Tests Flare's packets, which go to multicast groups, on routed and bridged ports.
#include <array>
#include <cstring>

#include "protocols/canary/engine/config.h"
#include "protocols/flare/engine/config.h"
#include "protocols/flare/engine/drop_reasons.h"
#include "support/flare_packets.h"
#include "support/switch_bench.h"
#include "switch/owners.h"

namespace tributary::test {
namespace {

using Elements = std::vector<std::int32_t>;

flare::TreeConfig tree_of(std::uint32_t job) {
  flare::TreeConfig tree;
  tree.job = job;
  tree.group = Ip(239, 192, 0, static_cast<std::uint8_t>(job));
  tree.children = {0, 1};
  tree.workers = tree.workers_below = 2;
  return tree;
}

// Host n is behind port n, the tree's root is this switch.
switching::SwitchConfig with_tree(bool routed) {
  switching::SwitchConfig config;
  config.id = 1;
  config.address = Ip(10, 0, 255, 1);
  for (std::uint8_t i = 0; i < 3; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    config.ports.push_back(routed ? routed_port(name, i, Ip(10, 0, i, 1)) : bridged_port(name, i));
  }
  config.protocols.emplace<flare::FlareConfig>().trees.push_back(tree_of(7));
  return config;
}

FlareSpec contribution(std::uint8_t from) {
  const auto tree = tree_of(7);
  FlareSpec spec;
  spec.job = tree.job;
  spec.group = tree.group;
  spec.workers = tree.workers;
  spec.window = static_cast<std::uint16_t>(tree.window);
  spec.source = Ip(10, 0, from, 9);
  spec.source_mac = mac(from);
  return spec;
}

class FlareOnPorts : public ::testing::TestWithParam<bool> {};

TEST_P(FlareOnPorts, AreAddedUpAndTheResultGoesOutOfTheChildrensPorts) {
  SwitchBench bench(with_tree(GetParam()));
  EXPECT_TRUE(bench.send(0, make_flare(bench.pool, contribution(0), Elements{3})).empty());
  const auto out = bench.send(1, make_flare(bench.pool, contribution(1), Elements{4}));
  ASSERT_EQ(out.size(), 2u);
  for (std::uint8_t port = 0; port < 2; ++port) {
    EXPECT_EQ(out[port]->egress, port);
    EXPECT_EQ(ethernet_of(*out[port]).source, mac(GetParam() ? port : std::uint8_t{0}, 0xee));
    EXPECT_EQ(ethernet_of(*out[port]).destination, wire::multicast_mac(tree_of(7).group));
    EXPECT_EQ(ip_of(*out[port]).tos, 0);
    EXPECT_EQ(flare_header(*out[port])->kind, wire::FlareKind::result);
    std::int32_t sum = 0;
    std::memcpy(&sum, reinterpret_cast<const std::byte*>(flare_header(*out[port]) + 1), 4);
    EXPECT_EQ(sum, 7);
  }
  EXPECT_EQ(bench.ledger().absorbed, 2u);
  EXPECT_EQ(bench.ledger().sent, 2u);
}

TEST_P(FlareOnPorts, ADamagedHeaderIsDroppedFirst) {
  SwitchBench bench(with_tree(GetParam()));
  auto packet = make_flare(bench.pool, contribution(0), Elements{3});
  ip_of(*packet).ttl ^= 1;
  EXPECT_TRUE(bench.send(0, std::move(packet)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_checksum), 1u);
  auto spec = contribution(0);
  spec.source = Ip(239, 1, 1, 1);
  EXPECT_TRUE(bench.send(0, make_flare(bench.pool, spec, Elements{3})).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_martian), 1u);
}

TEST_P(FlareOnPorts, PacketsToOtherPortsAreOrdinary) {
  SwitchBench bench(with_tree(GetParam()));
  auto spec = contribution(0);
  spec.udp_port = 5000;
  const auto out = bench.send(0, make_flare(bench.pool, spec, Elements{3}));
  EXPECT_EQ(out.size(), GetParam() ? 0u : 2u) << "a router serves no groups, a bridge floods";
  EXPECT_EQ(bench.drops(flare::drop::no_tree), 0u);
}

TEST_P(FlareOnPorts, APortThatIsDownLosesItsCopyOnly) {
  SwitchBench bench(with_tree(GetParam()));
  bench.send(0, make_flare(bench.pool, contribution(0), Elements{3}));
  bench.device().set_port_up(0, false);
  EXPECT_EQ(bench.send(1, make_flare(bench.pool, contribution(1), Elements{4})).size(), 1u);
  EXPECT_EQ(bench.losses(DropReason::port_down), 1u);
}

INSTANTIATE_TEST_SUITE_P(Ports, FlareOnPorts, ::testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "Routed" : "Bridged");
});

// Blocks of one tree meet on different cores, and each block on one.
TEST(OwnerOfABlock, IsThatOfItsFlow) {
  HeapPacketPool pool(8, 512);
  auto config = with_tree(true);
  config.protocols.get<flare::FlareConfig>().partial_sums = false;
  const auto owner = [&](std::uint64_t block, std::uint8_t from) {
    auto spec = contribution(from);
    spec.block = block;
    auto packet = make_flare(pool, spec, Elements{1});
    return switching::Owners(config, 3).core_of(*packet, 7);
  };
  std::array<unsigned, 3> hits{};
  for (std::uint64_t block = 0; block < wire::flare_flows; ++block) {
    const auto one = owner(block, 0);
    EXPECT_EQ(one, owner(block, 1)) << "of all ranks";
    EXPECT_EQ(one, owner(block + wire::flare_flows, 0));
    ++hits.at(one);
  }
  for (const auto count : hits) {
    EXPECT_GT(count, 0u);
  }
  config.protocols.reset<flare::FlareConfig>();
  config.protocols.emplace<canary::CanaryConfig>();
  EXPECT_EQ(owner(1, 0), 7u) << "ordinary traffic here";
}

// This holds for any width of the window; otherwise several cores would keep a slot.
TEST(OwnerOfABlock, IsTheSameForAllBlocksOfASlot) {
  HeapPacketPool pool(8, 512);
  for (const std::uint16_t window : {std::uint16_t{1}, std::uint16_t{5}, std::uint16_t{100}}) {
    auto config = with_tree(true);
    config.protocols.get<flare::FlareConfig>().partial_sums = false;
    const switching::Owners owners(config, 7);
    const auto owner = [&](std::uint64_t block) {
      auto spec = contribution(0);
      spec.window = window;
      spec.block = block;
      return owners.core_of(*make_flare(pool, spec, Elements{1}), 7);
    };
    for (std::uint64_t block = 0; block < 100; ++block) {
      EXPECT_EQ(owner(block), owner(block + wire::flare_slots(window))) << "window " << window;
    }
  }
}

TEST(FlareReload, KeepsTheBlocksOfTreesThatStay) {
  auto config = with_tree(true);
  SwitchBench bench(config);
  bench.send(0, make_flare(bench.pool, contribution(0), Elements{3}));
  config.protocols.get<flare::FlareConfig>().trees.push_back(tree_of(8));
  bench.device().reconfigure(config);
  EXPECT_EQ(bench.send(1, make_flare(bench.pool, contribution(1), Elements{4})).size(), 2u);
}

}  // namespace
}  // namespace tributary::test
