// SPDX-License-Identifier: BSD-3-Clause
#include "feed_plan.h"

#include <gtest/gtest.h>

#include "control/loader.h"

namespace tributary::pktgen {
namespace {

constexpr const char* port = R"([[switch.port]]
name = "a"
mtu = 9000
pcap = { rx = ["a0.pcap", "a1.pcap"], infinite = true }
)";

control::DaemonConfig config(const std::string& cores, const std::string& ports) {
  auto loaded = control::parse_config("version = 1\n[daemon]\n" + cores +
                                          "[[switch]]\nname = \"s\"\nid = 1\n"
                                          "[[switch.port]]\nname = \"r\"\nring = \"r\"\n" +
                                          ports,
                                      "feed.toml");
  EXPECT_TRUE(loaded) << control::to_string(loaded.error());
  return *loaded;
}

TEST(PlanFeed, EveryFileOfAnEndlessPcapFeedsAQueue) {
  const auto plan = plan_feed(config("cores = [2, 3]\n", port), {}, {1, 2, 3});
  ASSERT_TRUE(plan) << plan.error();
  ASSERT_EQ(plan->queues.size(), 2u);
  for (std::uint16_t number = 0; number < 2; ++number) {
    const auto& queue = plan->queues[number];
    EXPECT_EQ(queue.switch_name, "s");
    EXPECT_EQ(queue.port, "a");
    EXPECT_EQ(queue.queue, number);
    EXPECT_EQ(queue.file, number == 0 ? "a0.pcap" : "a1.pcap");
    EXPECT_EQ(queue.frame_bytes_max, 9018u);
  }
  const auto& device = std::get<control::RawDevice>(plan->config.switches[0].devices[1]);
  EXPECT_EQ(device.arguments, plan->queues[0].device + ",no-rx=1");
  EXPECT_EQ(device.queues, 2u);
  EXPECT_TRUE(std::holds_alternative<control::RingDevice>(plan->config.switches[0].devices[0]));
}

TEST(PlanFeed, DescriptorsOfEveryCoreHaveBuffers) {
  FeedOptions options;
  options.descriptors = 1024;
  const auto given = config("cores = [2, 3]\n", port);
  const auto plan = plan_feed(given, options, {1, 2, 3});
  ASSERT_TRUE(plan) << plan.error();
  EXPECT_EQ(plan->config.packets, given.packets + 2 * 1024);
}

TEST(PlanFeed, TheFeederHasTheLastFreeCpu) {
  EXPECT_EQ(plan_feed(config("cores = [3]\n", port), {}, {1, 2, 3})->core, 2u);
  const auto automatic = plan_feed(config("cores = \"auto\"\n", port), {}, {1, 2, 3});
  ASSERT_TRUE(automatic) << automatic.error();
  EXPECT_EQ(automatic->core, 3u);
  EXPECT_EQ(automatic->config.cores, (std::vector<unsigned>{2}));
  FeedOptions options;
  options.core = 1;
  EXPECT_EQ(plan_feed(config("cores = [3]\n", port), options, {1, 2, 3})->core, 1u);
}

std::string refusal(const control::DaemonConfig& given, const FeedOptions& options,
                    const std::vector<unsigned>& allowed) {
  const auto plan = plan_feed(given, options, allowed);
  return plan ? "" : plan.error();
}

TEST(PlanFeed, TheFeederSharesNoCpu) {
  FeedOptions options;
  options.core = 2;
  EXPECT_NE(refusal(config("cores = [2]\n", port), options, {1, 2}).find("is a packet core"),
            std::string::npos);
  EXPECT_NE(refusal(config("cores = [1]\n", port), options, {0, 1}).find("may use"),
            std::string::npos);
  EXPECT_NE(refusal(config("cores = [1]\n", port), {}, {1}).find("no CPU is left"),
            std::string::npos);
  EXPECT_NE(refusal(config("cores = \"auto\"\n", port), {}, {1}).find("two CPUs"),
            std::string::npos);
}

TEST(PlanFeed, WithoutAnEndlessPcapThereIsNothingToFeed) {
  EXPECT_NE(refusal(config("", ""), {}, {0, 1}).find("infinite = true"), std::string::npos);
  const std::string once = "[[switch.port]]\nname = \"a\"\npcap = { rx = \"a.pcap\" }\n";
  EXPECT_NE(refusal(config("", once), {}, {0, 1}).find("infinite = true"), std::string::npos);
}

TEST(PlanFeed, WhatIsSentIsNotRecorded) {
  const std::string records =
      "[[switch.port]]\nname = \"a\"\n"
      "pcap = { rx = \"a.pcap\", tx = \"b.pcap\", infinite = true }\n";
  EXPECT_NE(refusal(config("", records), {}, {0, 1}).find("leave `tx` out"), std::string::npos);
}

TEST(PlanFeed, AFedPortWithAnAddressOfItsOwnIsToldWhichItHas) {
  const std::string routed = std::string(port) + "address = \"10.1.1.1/24\"\n";
  const std::string given = "mac = \"02:00:00:01:00:01\"\n";
  EXPECT_NE(refusal(config("", routed), {}, {0, 1}).find("give it mac ="), std::string::npos);
  EXPECT_EQ(refusal(config("", routed + given), {}, {0, 1}), "");
  auto bridged = config("", port);
  EXPECT_EQ(refusal(bridged, {}, {0, 1}), "");
  auto of_vlans = bridged;
  of_vlans.switches[0].config.vlans.emplace_back();
  EXPECT_NE(refusal(of_vlans, {}, {0, 1}).find("give it mac ="), std::string::npos);
  bridged.switches[0].config.bridge_address.emplace();
  EXPECT_NE(refusal(bridged, {}, {0, 1}).find("give it mac ="), std::string::npos);
}

TEST(PlanFeed, AFedPortHoldsNobodyBack) {
  auto asks = config("", port);
  asks.switches[0].config.ports[0].flow.mode = forwarding::FlowControl::pause;
  EXPECT_EQ(refusal(asks, {}, {0, 1}), "") << "a port that is not fed";
  asks.switches[0].config.ports[1].flow.mode = forwarding::FlowControl::pause;
  EXPECT_NE(refusal(asks, {}, {0, 1}).find("leave `flow_control` out"), std::string::npos);
}

}  // namespace
}  // namespace tributary::pktgen
