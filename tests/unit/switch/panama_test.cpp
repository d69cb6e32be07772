// SPDX-License-Identifier: BSD-3-Clause
// Tests PANAMA's packets, which go to multicast groups, on routed and bridged ports.
#include "protocols/canary/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/drop_reasons.h"
#include "support/panama_packets.h"
#include "support/switch_bench.h"
#include "switch/owners.h"

namespace tributary::test {
namespace {

using Elements = std::vector<std::int32_t>;

// Host n is behind port n, the tree's root is this switch.
switching::SwitchConfig with_panama_tree(bool routed) {
  switching::SwitchConfig config;
  config.id = 1;
  config.address = Ip(10, 0, 255, 1);
  for (std::uint8_t i = 0; i < 3; ++i) {
    const std::string name(1, static_cast<char>('a' + i));
    config.ports.push_back(routed ? routed_port(name, i, Ip(10, 0, i, 1)) : bridged_port(name, i));
  }
  config.protocols.emplace<panama::PanamaConfig>();
  config.protocols.get<panama::PanamaConfig>().trees.push_back(
      {{7, Ip(239, 192, 0, 1), {0, 1}, std::nullopt, 2, 2}, 0, 2});
  return config;
}

PanamaSpec panama_contribution(std::uint8_t from) {
  PanamaSpec spec;
  spec.workers = 2;
  spec.source = Ip(10, 0, from, 9);
  spec.source_mac = mac(from);
  return spec;
}

class PanamaOnPorts : public ::testing::TestWithParam<bool> {};

TEST_P(PanamaOnPorts, AreAddedUpAndTheResultGoesOutOfTheChildrensPorts) {
  SwitchBench bench(with_panama_tree(GetParam()));
  EXPECT_TRUE(bench.send(0, make_panama(bench.pool, panama_contribution(0), Elements{3})).empty());
  const auto out = bench.send(1, make_panama(bench.pool, panama_contribution(1), Elements{4}));
  ASSERT_EQ(out.size(), 2u);
  for (std::uint8_t port = 0; port < 2; ++port) {
    EXPECT_EQ(out[port]->egress, port);
    EXPECT_EQ(ethernet_of(*out[port]).source, mac(GetParam() ? port : std::uint8_t{0}, 0xee));
    EXPECT_EQ(ethernet_of(*out[port]).destination, wire::multicast_mac(Ip(239, 192, 0, 1)));
    EXPECT_EQ(panama_header(*out[port])->kind, wire::PanamaKind::result);
    std::int32_t sum = 0;
    std::memcpy(&sum, reinterpret_cast<const std::byte*>(panama_header(*out[port]) + 1), 4);
    EXPECT_EQ(sum, 7);
  }
  EXPECT_EQ(bench.ledger().absorbed, 2u);
  EXPECT_EQ(bench.ledger().sent, 2u);
}

TEST_P(PanamaOnPorts, ADamagedHeaderIsDroppedFirst) {
  SwitchBench bench(with_panama_tree(GetParam()));
  auto packet = make_panama(bench.pool, panama_contribution(0), Elements{3});
  ip_of(*packet).ttl ^= 1;
  EXPECT_TRUE(bench.send(0, std::move(packet)).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_checksum), 1u);
  auto spec = panama_contribution(0);
  spec.source = Ip(239, 1, 1, 1);
  EXPECT_TRUE(bench.send(0, make_panama(bench.pool, spec, Elements{3})).empty());
  EXPECT_EQ(bench.drops(DropReason::ip_martian), 1u);
}

TEST_P(PanamaOnPorts, OtherPacketsOfTheClassAreOrdinary) {
  SwitchBench bench(with_panama_tree(GetParam()));
  auto spec = panama_contribution(0);
  spec.udp_port = 5000;
  const auto out = bench.send(0, make_panama(bench.pool, spec, Elements{3}));
  EXPECT_EQ(out.size(), GetParam() ? 0u : 2u) << "a router serves no groups, a bridge floods";
  EXPECT_EQ(bench.drops(panama::drop::no_tree), 0u);
}

TEST_P(PanamaOnPorts, APortThatIsDownLosesItsCopyOnly) {
  SwitchBench bench(with_panama_tree(GetParam()));
  bench.send(0, make_panama(bench.pool, panama_contribution(0), Elements{3}));
  bench.device().set_port_up(0, false);
  EXPECT_EQ(bench.send(1, make_panama(bench.pool, panama_contribution(1), Elements{4})).size(), 1u);
  EXPECT_EQ(bench.losses(DropReason::port_down), 1u);
}

INSTANTIATE_TEST_SUITE_P(Ports, PanamaOnPorts, ::testing::Bool(), [](const auto& test) {
  return std::string(test.param ? "Routed" : "Bridged");
});

TEST(OwnerOfATree, IsTheSameForAllItsPacketsWhetherCanaryIsOnOrNot) {
  HeapPacketPool pool(8, 512);
  auto config = with_panama_tree(true);
  const auto owner = [&](std::uint32_t job, std::uint16_t tree, std::uint32_t vid) {
    auto spec = panama_contribution(0);
    spec.job = job;
    spec.tree = tree;
    spec.vid = vid;
    auto packet = make_panama(pool, spec, Elements{1});
    return switching::Owners(config, 3).core_of(*packet, 7);
  };
  std::array<unsigned, 3> hits{};
  for (std::uint32_t job = 0; job < 300; ++job) {
    const auto one = owner(job, 1, 0);
    EXPECT_EQ(one, owner(job, 1, 99));
    ++hits.at(one);
  }
  for (const auto count : hits) {
    EXPECT_NEAR(count, 100, 40);
  }
  config.protocols.reset<panama::PanamaConfig>();
  config.protocols.emplace<canary::CanaryConfig>();
  EXPECT_EQ(owner(1, 1, 0), 7u) << "ordinary traffic here";
}

TEST(PanamaReload, KeepsTheRowsOfTreesThatStay) {
  auto config = with_panama_tree(true);
  SwitchBench bench(config);
  bench.send(0, make_panama(bench.pool, panama_contribution(0), Elements{3}));
  auto other = config.protocols.get<panama::PanamaConfig>().trees[0];
  other.tree = 1;
  other.group = Ip(239, 192, 0, 2);
  config.protocols.get<panama::PanamaConfig>().trees.push_back(other);
  bench.device().reconfigure(config);
  EXPECT_EQ(bench.send(1, make_panama(bench.pool, panama_contribution(1), Elements{4})).size(), 2u);
}

}  // namespace
}  // namespace tributary::test
