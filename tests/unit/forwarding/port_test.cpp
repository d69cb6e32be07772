// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/port.h"

#include <vector>

#include <gtest/gtest.h>

#include "forwarding/codepoint.h"
#include "forwarding/flow_plan.h"
#include "support/frames.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

const test::Endpoints ends{test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1),
                           test::Ip(10, 0, 0, 2)};

class PortTest : public testing::Test {
 protected:
  PacketPtr frame() { return test::make_udp(pool_, ends, 1, 2, 100); }
  // A frame whose checksum a kernel left to hardware that does not exist.
  PacketPtr unfinished() {
    auto packet = frame();
    const auto l4 = static_cast<std::uint16_t>(test::l4_of(*packet).size());
    test::l4_header<wire::UdpHeader>(*packet).checksum =
        wire::pseudo_header_sum(test::ip_of(*packet), l4);
    return packet;
  }
  ~PortTest() override { EXPECT_EQ(pool_.outstanding(), 0u); }

  HeapPacketPool pool_{64, 1600};
};

TEST_F(PortTest, CountsBothDirections) {
  Port port(PortConfig{});
  EXPECT_EQ(port.deadline(), never);
  PacketList ready;
  port.arrive(PacketList(frame()), start, ready);
  EXPECT_EQ(ready.size(), 1u);
  port.enqueue(ready.pop(), start);
  EXPECT_LE(port.deadline(), start);
  EXPECT_EQ(port.queue_packets(), 1u);
  EXPECT_EQ(port.queue_bytes(), 142u);
  PacketList out;
  port.dequeue(start, out, 32);
  EXPECT_EQ(out.size(), 1u);
  const auto counters = port.counters();
  EXPECT_EQ(counters.rx_packets, 1u);
  EXPECT_EQ(counters.rx_bytes, 142u);
  EXPECT_EQ(counters.tx_offered, 1u);
  EXPECT_EQ(counters.tx_packets, 1u);
  EXPECT_EQ(counters.tx_bytes, 142u);
  EXPECT_EQ(counters.rx_unfinished_checksums, 0u);
}

TEST_F(PortTest, TrustsTagsIfItIsToldSo) {
  PortConfig config;
  Port port(config);
  const auto arrived = [&] {
    PacketList ready;
    port.arrive(PacketList(test::tagged(frame(), 5u << wire::vlan_priority_shift)), start, ready);
    return priority_of(*ready.pop());
  };
  EXPECT_EQ(arrived(), 0) << "its codepoint";
  config.trusts_tags = true;
  port.reconfigure(config);
  EXPECT_EQ(arrived(), 5);
  config.trusts_tags = false;
  port.reconfigure(config);
  EXPECT_EQ(arrived(), 0);
}

// What the queue had before classes were taken away and put back is not left in its gauge.
TEST_F(PortTest, AReloadTellsWhatWaitsWhereverItWaitsNow) {
  const TrafficClass rest{.name = "rest", .codepoints = {}};
  const TrafficClass sums{.name = "sums", .codepoints = {{32}}};
  PortConfig with_classes;
  with_classes.queue.classes = {rest, sums};
  QueueGauge gauge;
  Port port(with_classes, &gauge);
  auto packet = frame();
  test::ip_of(*packet).tos = 32 << 2;
  port.enqueue(std::move(packet), start);
  EXPECT_EQ(gauge.bytes(0), 0u);
  const auto waiting = gauge.bytes(1);
  EXPECT_GE(waiting, 142u);
  port.reconfigure(PortConfig{});
  EXPECT_EQ(gauge.bytes(0), waiting);
  EXPECT_EQ(gauge.bytes(1), 0u);
  with_classes.queue.classes = {rest, {.name = "other", .codepoints = {{8}}}, sums};
  port.reconfigure(with_classes);
  EXPECT_EQ(gauge.bytes(0), 0u);
  EXPECT_EQ(gauge.bytes(1), 0u);
  EXPECT_GE(gauge.bytes(2), 142u);
  port.reconfigure(PortConfig{});
  port.clear();
  port.reconfigure(with_classes);
  EXPECT_EQ(gauge.bytes(2), 0u);
}

// Tests the number of frames that may pass.
class PassTest : public PortTest {
 protected:
  std::size_t pass(Port& port, std::size_t frames, std::size_t max = 32) {
    PacketList run;
    for (std::size_t i = 0; i < frames; ++i) {
      run.push(frame());
    }
    const auto passed = port.pass(run, max).size();
    EXPECT_EQ(passed + run.size(), frames);
    return passed;
  }

  PortConfig config_;
};

TEST_F(PassTest, AnIdlePortCountsWhatPassesAsSent) {
  QueueGauge gauge;
  Port port(config_, &gauge);
  EXPECT_EQ(pass(port, 40), 32u);
  EXPECT_EQ(pass(port, 1), 1u);
  EXPECT_EQ(pass(port, 3, 0), 0u) << "the device has no room";
  EXPECT_EQ(pass(port, 0), 0u);
  EXPECT_EQ(port.deadline(), never);
  EXPECT_EQ(gauge.bytes(), 0u);
  EXPECT_EQ(port.counters().tx_offered, 33u);
  EXPECT_EQ(port.counters().tx_packets, 33u);
  EXPECT_EQ(port.counters().tx_bytes, 33 * 142u);
}

TEST_F(PassTest, NothingOvertakesWhatWaits) {
  Port port(config_);
  port.enqueue(frame(), start);
  EXPECT_EQ(pass(port, 3), 0u);
  PacketList out;
  port.dequeue(start, out, 32);
  EXPECT_EQ(pass(port, 3), 3u);
}

TEST_F(PassTest, WhatMayWaitOrBeLostDoesNotPass) {
  config_.queue.rate_bps = 1'000'000'000;
  Port shaped(config_);
  EXPECT_EQ(pass(shaped, 1), 0u);
  config_ = {};
  config_.impair_out.delay = 1ms;
  Port impaired(config_);
  EXPECT_EQ(pass(impaired, 1), 0u);
  config_ = {};
  Port down(config_);
  down.set_up(false);
  EXPECT_EQ(pass(down, 1), 0u);
  EXPECT_EQ(down.counters().tx_offered, 0u);
}

TEST_F(PassTest, ARunThatDoesNotFitTheQueueDoesNotPass) {
  config_.queue.capacity_bytes = 3 * 142;
  Port port(config_);
  EXPECT_EQ(pass(port, 3), 3u);
  EXPECT_EQ(pass(port, 4), 0u);
}

TEST_F(PassTest, ARunOfWhichFramesWouldBeMarkedDoesNotPass) {
  config_.queue.ecn_threshold_packets = 4;
  Port port(config_);
  EXPECT_EQ(pass(port, 5), 5u);
  EXPECT_EQ(pass(port, 6), 0u);
}

TEST_F(PassTest, ARunIsNotToDelayWhatKeepsTheNetworkRunning) {
  Port port(config_);
  PacketList run(frame());
  auto urgent = test::make_udp(pool_, ends, 1, 3784, 24);
  test::ip_of(*urgent).tos = 48 << 2;
  run.push(std::move(urgent));
  ASSERT_TRUE(port.pass(run, 32).empty());
  PacketList out;
  while (auto packet = run.pop()) {
    port.enqueue(std::move(packet), start);
  }
  port.dequeue(start, out, 32);
  EXPECT_EQ(test::ip_of(*out.pop()).tos, 48 << 2);
}

TEST_F(PassTest, NothingPassesAPortWithFlowControl) {
  config_.flow.mode = FlowControl::pause;
  const auto plan = plan_flow_control(std::vector{config_});
  std::vector<PortBuffer> buffers(1);
  Port port(config_);
  port.control_flow({buffers, 0, nullptr}, config_, plan);
  EXPECT_EQ(pass(port, 1), 0u);
}

TEST_F(PortTest, NoticesUnfinishedChecksums) {
  Port port(PortConfig{});
  PacketList ready;
  port.arrive(PacketList(unfinished()), start, ready);
  auto none = frame();
  test::l4_header<wire::UdpHeader>(*none).checksum = std::uint16_t{0};
  port.arrive(PacketList(std::move(none)), start, ready);
  auto wrong = frame();
  test::l4_header<wire::UdpHeader>(*wrong).checksum = std::uint16_t{1};
  port.arrive(PacketList(std::move(wrong)), start, ready);
  auto stub = unfinished();
  stub->length -= 1;
  port.arrive(PacketList(std::move(stub)), start, ready);
  port.arrive(PacketList(test::tagged(unfinished(), 10)), start, ready);
  EXPECT_EQ(ready.size(), 5u) << "passed on all the same";
  EXPECT_EQ(port.counters().rx_unfinished_checksums, 2u);
}

TEST_F(PortTest, ImpairsBothDirectionsOnTheirOwn) {
  PortConfig config;
  config.impair_in.delay = 1ms;
  config.impair_out.delay = 2ms;
  Port port(config);
  PacketList ready;
  port.arrive(PacketList(frame()), start, ready);
  EXPECT_TRUE(ready.empty());
  EXPECT_EQ(port.deadline(), start + 1ms);
  port.poll_arrivals(start + 1ms, ready);
  EXPECT_EQ(ready.size(), 1u);
  port.enqueue(ready.pop(), start + 1ms);
  EXPECT_EQ(port.deadline(), start + 3ms);
  PacketList out;
  port.dequeue(start + 3ms - 1ns, out, 32);
  EXPECT_TRUE(out.empty());
  port.dequeue(start + 3ms, out, 32);
  EXPECT_EQ(out.size(), 1u);
  EXPECT_EQ(port.counters().impaired_delayed, 2u);
}

TEST_F(PortTest, LossIsCounted) {
  PortConfig config;
  config.impair_in.loss = 1;
  config.impair_out.loss = 1;
  Port port(config);
  PacketList ready;
  port.arrive(PacketList(frame()), start, ready);
  port.enqueue(frame(), start);
  EXPECT_TRUE(ready.empty());
  EXPECT_EQ(port.queue_packets(), 0u);
  EXPECT_EQ(port.counters().impaired_lost, 2u);
}

TEST_F(PortTest, ReconfigurationKeepsWhatWaits) {
  PortConfig config;
  config.queue.rate_bps = 1'000'000;
  Port port(config);
  for (int i = 0; i < 40; ++i) {
    port.enqueue(frame(), start);
  }
  PacketList out;
  port.dequeue(start, out, 40);
  EXPECT_LT(out.size(), 40u);
  config.queue.rate_bps = 0;
  port.reconfigure(config);
  port.dequeue(start, out, 40);
  EXPECT_EQ(out.size(), 40u);
}

TEST_F(PortTest, ClearReturnsEverythingToThePool) {
  PortConfig config;
  config.queue.rate_bps = 1000;
  config.impair_in.delay = 1s;
  config.impair_out.reorder = 0.5;
  Port port(config);
  PacketList ready;
  for (int i = 0; i < 20; ++i) {
    port.arrive(PacketList(frame()), start, ready);
    port.enqueue(frame(), start);
  }
  port.clear();
  EXPECT_EQ(pool_.outstanding(), 0u);
  EXPECT_EQ(port.deadline(), never);
}

TEST_F(PortTest, WithoutALinkWhatWaitsAndWhatComesIsCounted) {
  PortConfig config;
  config.queue.rate_bps = 1'000'000;
  config.impair_out.delay = 1s;
  Port port(config);
  port.enqueue(frame(), start);
  port.enqueue(frame(), start);
  PacketList out;
  port.dequeue(start + 1s, out, 1);
  port.enqueue(frame(), start + 1s);  // in the cable; one is in the queue, one has left
  port.set_up(false);
  EXPECT_EQ(port.counters().link_down_dropped, 2u);
  port.enqueue(frame(), start + 1s);
  port.dequeue(start + 5s, out, 32);
  EXPECT_EQ(port.deadline(), never);
  auto counters = port.counters();
  EXPECT_EQ(counters.link_down_dropped, 3u);
  EXPECT_EQ(counters.tx_offered, counters.tx_packets + counters.link_down_dropped);
  port.set_up(true);
  port.enqueue(frame(), start + 5s);
  port.dequeue(start + 6s, out, 32);
  EXPECT_EQ(port.counters().tx_packets, 2u);
}

}  // namespace
}  // namespace tributary::forwarding
