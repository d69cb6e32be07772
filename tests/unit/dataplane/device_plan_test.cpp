// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/device_plan.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/rss.h"

namespace tributary::dataplane {
namespace {

using Form = RssRule::Form;

constexpr std::uint64_t segments = RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
constexpr std::uint64_t fast_free = RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
constexpr std::uint64_t all = ~std::uint64_t{0};
constexpr std::uint64_t flows = RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_FRAG_IPV4 | RTE_ETH_RSS_IPV6 |
                                RTE_ETH_RSS_FRAG_IPV6 | RTE_ETH_RSS_NONFRAG_IPV4_UDP |
                                RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV6_UDP |
                                RTE_ETH_RSS_NONFRAG_IPV6_TCP;
constexpr std::uint64_t modifiers = RTE_ETH_RSS_L3_SRC_ONLY | RTE_ETH_RSS_L3_DST_ONLY |
                                    RTE_ETH_RSS_L4_SRC_ONLY | RTE_ETH_RSS_L4_DST_ONLY |
                                    RTE_ETH_RSS_L2_SRC_ONLY | RTE_ETH_RSS_L2_DST_ONLY;
constexpr std::uint64_t by_source_port =
    (flows & ~(RTE_ETH_RSS_NONFRAG_IPV4_TCP | RTE_ETH_RSS_NONFRAG_IPV6_TCP)) |
    RTE_ETH_RSS_L4_SRC_ONLY;

rte_eth_dev_info device(const char* driver, std::uint64_t receive, std::uint64_t transmit,
                        std::uint64_t hashes = 0, std::uint8_t key_bytes = 0,
                        std::uint16_t entries = 0) {
  rte_eth_dev_info info = {};
  info.driver_name = driver;
  info.rx_offload_capa = receive;
  info.tx_offload_capa = transmit;
  info.flow_type_rss_offloads = hashes;
  info.hash_key_size = key_bytes;
  info.reta_size = entries;
  return info;
}

// The capabilities of the software drivers of DPDK 22.11, and the relevant ones of the cards.
const auto ring = device("net_ring", 0x2000, segments);
const auto memif = device("net_memif", 0, segments);
const auto pcap = device("net_pcap", 0, 0);
const auto null = device("net_null", 0, 0, 0x2003ffffc, 0, 128);
const auto af_packet = device("net_af_packet", 0x1, segments | 0x1);
const auto af_xdp = device("net_af_xdp", 0, 0);
const auto vhost = device("net_vhost", 0xd, segments | 0xd);
const auto virtio_user = device("net_virtio_user", 0x201d, segments | 0xd);
const auto intel =
    device("net_ice", 0x8e40f, segments | fast_free | 0x1e, all & ~modifiers, 52, 512);
// It offers no kind for all of IPv4 or of IPv6.
constexpr std::uint64_t of_i40e = flows & ~(RTE_ETH_RSS_IPV4 | RTE_ETH_RSS_IPV6);
const auto older_intel = device("net_i40e", 0x8e40f, segments | fast_free | 0x1e, of_i40e, 52, 512);
const auto nvidia = device("mlx5_pci", 0x9e40f, segments | fast_free | 0x1e, all, 40, 512);
const auto everything = device("mock", all, all, all, 40, 128);
const auto in_one_piece = device("mock", all, all & ~segments, all, 40, 128);

// The answers of a driver to each form of the rule.
struct RulesTaken {
  bool as_device = false;
  bool by_itself = false;
};

std::optional<Form> rule_for(const DevicePlan& plan, const RulesTaken& taken) {
  return choose_rule(
      plan, [&](Form form) { return form == Form::as_device ? taken.as_device : taken.by_itself; });
}

struct Row {
  const rte_eth_dev_info& device;
  RulesTaken taken;
  std::uint64_t transmit_offloads;
  bool gathers;
  // The device has several queues.
  std::uint64_t rss_hashes = 0;
  std::size_t key_bytes = 0;
  bool fills_redirection = false;
  std::optional<Form> rule = std::nullopt;
};

const std::vector<Row>& rows() {
  static const std::vector<Row> table = {
      {ring, {}, segments, true},
      {memif, {}, segments, true},
      {pcap, {}, 0, true},
      {null, {}, 0, true, flows & 0x2003ffffc, 0, true},
      {af_packet, {}, segments, true},
      {af_xdp, {}, 0, false},
      {vhost, {}, segments, true},
      {virtio_user, {}, segments, true},
      {intel, {true, false}, segments, true, flows, 52, true, Form::as_device},
      {intel, {false, false}, segments, true, flows, 52, true},
      {older_intel, {false, false}, segments, true, of_i40e, 52, true},
      {nvidia, {false, true}, segments, true, by_source_port, 40, true},
      {everything, {true, true}, segments, true, by_source_port, 40, true},
      {in_one_piece, {true, true}, fast_free, false, by_source_port, 40, true},
  };
  return table;
}

TEST(PlanDevice, TakesOfEachDeviceWhatIsOfUse) {
  for (const auto& row : rows()) {
    SCOPED_TRACE(row.device.driver_name);
    const auto plan = plan_device(row.device, 4, true);
    EXPECT_EQ(plan.transmit_offloads, row.transmit_offloads);
    EXPECT_EQ(plan.gathers, row.gathers);
    EXPECT_EQ(plan.rss_hashes, row.rss_hashes);
    EXPECT_EQ(plan.rss_key.size(), row.key_bytes);
    EXPECT_EQ(plan.fills_redirection, row.fills_redirection);
    EXPECT_EQ(rule_for(plan, row.taken), row.rule);
  }
}

TEST(PlanDevice, OneQueueNeedsNoSpreading) {
  for (const auto& row : rows()) {
    SCOPED_TRACE(row.device.driver_name);
    const auto plan = plan_device(row.device, 1, true);
    EXPECT_EQ(plan.transmit_offloads, row.transmit_offloads);
    EXPECT_EQ(plan.rss_hashes, 0u);
    EXPECT_FALSE(plan.fills_redirection);
    EXPECT_EQ(rule_for(plan, {true, true}), std::nullopt);
  }
}

// Many flows may have one source port.
TEST(PlanDevice, WithoutOwnersWholeFlowsAreSpread) {
  for (const auto& row : rows()) {
    SCOPED_TRACE(row.device.driver_name);
    const auto plan = plan_device(row.device, 4, false);
    EXPECT_EQ(plan.rss_hashes & modifiers, 0u);
    EXPECT_EQ(plan.rss_hashes != 0, row.rss_hashes != 0);
    EXPECT_EQ(rule_for(plan, {true, true}), std::nullopt);
  }
  EXPECT_EQ(plan_device(nvidia, 4, false).rss_hashes, flows);
}

// A frame may share its segments with others.
TEST(PlanDevice, FreesFastOnlyWhatIsInOnePiece) {
  for (const auto offered : {std::uint64_t{0}, segments, fast_free, segments | fast_free}) {
    const auto plan = plan_device(device("mock", 0, offered), 1, true);
    EXPECT_EQ(plan.gathers, (offered & segments) != 0);
    EXPECT_EQ(plan.transmit_offloads, (offered & segments) != 0 ? segments : offered & fast_free);
  }
  EXPECT_EQ(plan_device(device("net_pcap", 0, fast_free), 1, true).transmit_offloads, 0u);
}

TEST(PlanDevice, AKeyThatIsTooLongIsLeftToTheDevice) {
  const auto plan = plan_device(device("mock", 0, 0, all, 129, 128), 4, true);
  EXPECT_EQ(plan.rss_hashes, 0u);
  EXPECT_TRUE(plan.rss_key.empty());
  EXPECT_FALSE(plan.fills_redirection);
}

TEST(ChooseRule, TheDevicesOwnKeyAndTableHaveToNameTheOwners) {
  const auto with = [](std::uint8_t key_bytes, std::uint16_t entries, RulesTaken taken) {
    return rule_for(plan_device(device("mock", 0, 0, flows, key_bytes, entries), 4, true), taken);
  };
  EXPECT_EQ(with(40, 128, {true, true}), Form::as_device);
  EXPECT_EQ(with(40, 100, {true, true}), Form::by_itself) << "no table by the rule of owners";
  EXPECT_EQ(with(40, 100, {true, false}), std::nullopt);
  EXPECT_EQ(with(0, 128, {true, true}), Form::by_itself) << "a key that nobody here knows";
  EXPECT_EQ(with(0, 128, {true, false}), std::nullopt);
}

const rte_flow_action_rss& spreading(const RssRule& rule) {
  return *static_cast<const rte_flow_action_rss*>(rule.actions()[0].conf);
}

TEST(RssRule, IsForUdpOverIpv4ByItsSourcePort) {
  const RssRule rule(Form::as_device, 4);
  EXPECT_EQ(rule.attributes().ingress, 1u);
  EXPECT_EQ(rule.attributes().group, 0u);
  const std::array expected = {RTE_FLOW_ITEM_TYPE_ETH, RTE_FLOW_ITEM_TYPE_IPV4,
                               RTE_FLOW_ITEM_TYPE_UDP, RTE_FLOW_ITEM_TYPE_END};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(rule.pattern()[i].type, expected[i]);
    EXPECT_EQ(rule.pattern()[i].spec, nullptr) << "of any address and port";
  }
  EXPECT_EQ(rule.actions()[0].type, RTE_FLOW_ACTION_TYPE_RSS);
  EXPECT_EQ(rule.actions()[1].type, RTE_FLOW_ACTION_TYPE_END);
  EXPECT_EQ(spreading(rule).types, RTE_ETH_RSS_NONFRAG_IPV4_UDP | RTE_ETH_RSS_L4_SRC_ONLY);
  EXPECT_EQ(spreading(rule).func, RTE_ETH_HASH_FUNCTION_TOEPLITZ);
  EXPECT_EQ(spreading(rule).key, nullptr);
  EXPECT_EQ(spreading(rule).queue, nullptr);
  EXPECT_EQ(spreading(rule).queue_num, 0u);
}

TEST(RssRule, ByItselfBringsTheKeyAndTheQueuesOfTheOwners) {
  const RssRule rule(Form::by_itself, 4);
  std::array<std::uint8_t, 40> key;
  fill_rss_key(key);
  const auto& spread = spreading(rule);
  ASSERT_EQ(spread.key_len, key.size());
  EXPECT_TRUE(std::equal(key.begin(), key.end(), spread.key));
  ASSERT_EQ(spread.queue_num, 128u);
  for (std::uint32_t i = 0; i < spread.queue_num; ++i) {
    EXPECT_EQ(spread.queue[i], rss_queue(i, spread.queue_num, 4));
  }
}

}  // namespace
}  // namespace tributary::dataplane
