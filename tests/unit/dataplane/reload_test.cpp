// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/reload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataplane/memory_plan.h"
#include "protocols/canary/engine/config.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/panama/engine/config.h"

namespace tributary::dataplane {
namespace {

using testing::HasSubstr;

constexpr wire::MacAddress device_mac{{2, 0, 0, 0, 0, 9}};

control::DaemonConfig one_switch() {
  control::DaemonConfig config;
  control::SwitchSection section;
  section.config.name = "leaf1";
  section.config.ports.resize(1);
  section.config.ports[0].name = "h1";
  section.devices = {control::InterfaceDevice{"veth0"}};
  config.switches.push_back(section);
  return config;
}

TEST(NoteLine, IsNewsOnceTheLinkIsThereAndWhenItsRateChanges) {
  forwarding::PortConfig port;
  EXPECT_FALSE(note_line(port, 0));
  EXPECT_TRUE(note_line(port, 100'000'000'000));
  EXPECT_FALSE(note_line(port, 100'000'000'000));
  EXPECT_FALSE(note_line(port, 0)) << "what is not known now stays";
  EXPECT_TRUE(note_line(port, 25'000'000'000));
  EXPECT_EQ(port.line_bps, 25'000'000'000u);
}

TEST(MergeReload, KeepsTheMacsOfDevices) {
  auto current = one_switch();
  current.switches[0].config.ports[0].mac = device_mac;
  auto next = one_switch();
  next.switches[0].config.ports[0].queue.rate_bps = 1000000;
  const auto merged = merge_reload(current, next, {}, packets_of(current));
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(merged->switches[0].config.ports[0].mac, device_mac);
  EXPECT_EQ(merged->switches[0].config.ports[0].queue.rate_bps, 1000000u);
}

TEST(MergeReload, RefusesWhatIsBuiltIn) {
  const auto current = one_switch();
  const auto refused = [&](auto change) {
    auto next = one_switch();
    change(next);
    const auto merged = merge_reload(current, next, {}, packets_of(current));
    return merged ? std::string() : merged.error();
  };
  EXPECT_THAT(refused([](auto& next) { next.cores = {0, 1}; }), HasSubstr("daemon cores"));
  EXPECT_THAT(refused([](auto& next) { next.state = ""; }), HasSubstr("daemon state"));
  EXPECT_THAT(refused([](auto& next) { next.switches.clear(); }), HasSubstr("switch leaf1"));
  EXPECT_THAT(refused([](auto& next) { next.switches[0].config.ports[0].mtu = 9000; }),
              HasSubstr("switch leaf1 port h1 mtu"));
  EXPECT_THAT(
      refused([](auto& next) { next.switches[0].devices[0] = control::InterfaceDevice{"veth1"}; }),
      HasSubstr("port h1 device"));
  EXPECT_THAT(refused([](auto& next) {
                std::get<control::InterfaceDevice>(next.switches[0].devices[0]).queues = 2;
              }),
              HasSubstr("port h1 queues"));
  EXPECT_THAT(refused([](auto& next) {
                next.switches[0].config.protocols.template emplace<canary::CanaryConfig>();
              }),
              HasSubstr("canary"));
}

TEST(MergeReload, CanaryKeepsItsTableAndTakesTimeoutsAndQuotas) {
  using std::chrono::milliseconds;
  auto current = one_switch();
  current.switches[0].config.protocols.emplace<canary::CanaryConfig>();
  auto next = current;
  auto& canary = next.switches[0].config.protocols.get<canary::CanaryConfig>();
  canary.timeout_min = milliseconds(1);
  canary.timeout_max = milliseconds(2);
  canary.root_timeout = milliseconds(3);
  canary.job_quota = 4;
  canary.port_quota = 5;
  const auto merged = merge_reload(current, next, {}, packets_of(current));
  ASSERT_TRUE(merged.has_value()) << merged.error();
  const auto& after = merged->switches[0].config.protocols.get<canary::CanaryConfig>();
  EXPECT_EQ(after.timeout_min, milliseconds(1));
  EXPECT_EQ(after.timeout_max, milliseconds(2));
  EXPECT_EQ(after.root_timeout, milliseconds(3));
  EXPECT_EQ(after.job_quota, 4u);
  EXPECT_EQ(after.port_quota, 5u);
  canary.partitions = 2;
  const auto refused = merge_reload(current, next, {}, packets_of(current));
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(refused.error(), HasSubstr("partitions"));
}

netreduce::RingConfig ring_of(std::uint32_t id, std::uint16_t window) {
  netreduce::RingConfig ring;
  ring.id = id;
  ring.members = {wire::Ipv4Address(10, 0, 0, 1), wire::Ipv4Address(10, 0, 0, 2)};
  ring.window = window;
  ring.message_packets = 10;
  return ring;
}

TEST(MergeReload, RingsHaveTheRoomThatWasTakenAtTheStart) {
  auto start = one_switch();
  start.switches[0].config.protocols.emplace<netreduce::NetReduceConfig>({{ring_of(1, 4)}});
  const auto packets = packets_of(start);
  auto fewer = start;
  fewer.switches[0].config.protocols.get<netreduce::NetReduceConfig>().rings.clear();
  ASSERT_TRUE(merge_reload(start, fewer, {}, packets));
  auto as_many = fewer;
  as_many.switches[0].config.protocols.get<netreduce::NetReduceConfig>().rings = {ring_of(2, 2),
                                                                                  ring_of(3, 2)};
  EXPECT_TRUE(merge_reload(fewer, as_many, {}, packets));
  auto more = as_many;
  more.switches[0].config.protocols.get<netreduce::NetReduceConfig>().rings[1] = ring_of(3, 3);
  const auto refused = merge_reload(as_many, more, {}, packets);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("40 packets more"));
  EXPECT_THAT(refused.error(), HasSubstr("restart"));
}

// Returns the trees of a switch that is the root of a tree with one worker.
control::RuntimeTrees one_tree() {
  return {{"leaf1",
           {{7, 0, wire::Ipv4Address(239, 192, 0, 1), {"h1"}, {}, 1, 1, 1, {}, {}, "panama"}}}};
}

TEST(MergeReload, TreesInstalledAtRunTimeAreKept) {
  auto current = one_switch();
  current.switches[0].config.protocols.emplace<panama::PanamaConfig>();
  auto next = current;
  next.switches[0].config.ports[0].queue.rate_bps = 1000000;
  const auto merged = merge_reload(current, next, one_tree(), packets_of(current));
  ASSERT_TRUE(merged) << merged.error();
  ASSERT_EQ(merged->switches[0].config.protocols.get<panama::PanamaConfig>().trees.size(), 1u);
  EXPECT_EQ(merged->switches[0].config.protocols.get<panama::PanamaConfig>().trees[0].job, 7u);
  next.switches[0].config.protocols.get<panama::PanamaConfig>().trees.push_back(
      {{7, wire::Ipv4Address(239, 192, 0, 2), {0}, {}, 1, 1}, 1, 1});
  const auto refused = merge_reload(current, next, one_tree(), packets_of(current));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), HasSubstr("tree 0 of job 7"));
}

TEST(MergeTrees, OldOnesGoAndThoseOfTheFileStay) {
  auto given = one_switch();
  given.switches[0].config.protocols.emplace<panama::PanamaConfig>().trees.push_back(
      {{3, wire::Ipv4Address(239, 1, 1, 1), {0}, {}, 1, 1}, 0, 1});
  auto current = given;
  current.switches[0].config.ports[0].mac = device_mac;
  const auto first = control::with_trees(current, given, one_tree());
  ASSERT_TRUE(first) << first.error();
  EXPECT_EQ(first->switches[0].config.protocols.get<panama::PanamaConfig>().trees.size(), 2u);
  EXPECT_EQ(first->switches[0].config.ports[0].mac, device_mac);
  const auto second = control::with_trees(*first, given, {});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->switches[0].config.protocols.get<panama::PanamaConfig>().trees,
            given.switches[0].config.protocols.get<panama::PanamaConfig>().trees);
}

}  // namespace
}  // namespace tributary::dataplane
