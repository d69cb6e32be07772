// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/home_port.h"

#include <gtest/gtest.h>

#include "fake_device.h"
#include "forwarding/flow_plan.h"
#include "wire/ethernet.h"

namespace tributary::dataplane {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t burst = DeviceQueue::burst;

// A port with a queue of a device.
class HomePortTest : public ::testing::Test {
 protected:
  HomePortTest() { queue_.pause(false); }
  ~HomePortTest() override {
    device_.sent.clear();
    EXPECT_EQ(pool_.outstanding(), freed_);
  }

  HomePort home(const forwarding::PortConfig& config = {}) {
    return {forwarding::Port(config, &gauge_), place_, 0, true, &queue_};
  }
  PacketPtr frame(std::uint32_t bytes = 1000) {
    auto packet = pool_.allocate();
    packet->length = bytes;
    packet->ingress = 1;
    packet->driver_tag = made_++;
    return packet;
  }
  PacketList frames(std::size_t count) {
    PacketList run;
    for (std::size_t i = 0; i < count; ++i) {
      run.push(frame());
    }
    return run;
  }
  // Expects that all frames up to now were sent, in order, and no others.
  void expect_sent_in_order(std::size_t count) {
    ASSERT_EQ(device_.sent.size(), count);
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(device_.sent[i]->driver_tag, i);
    }
  }

  HeapMbufPool pool_{256};
  FakeDevice device_;
  DeviceQueue queue_{FakeDevice::port, 0, true};
  PortPlace place_;
  forwarding::QueueGauge gauge_;
  std::uint32_t made_ = 0;
  std::size_t freed_ = 0;  // by DPDK, which does not know this pool
  Time now_ = Time{} + 1s;
};

TEST_F(HomePortTest, ARunGoesStraightToAnIdleDeviceAndLeavesNothingToDo) {
  auto port = home();
  port.depart(frames(5), now_);
  expect_sent_in_order(5);
  EXPECT_EQ(device_.bursts, (std::vector<std::size_t>{5}));
  EXPECT_TRUE(port.idle());
  EXPECT_FALSE(port.due(now_));
  const auto counters = port.port().counters();
  EXPECT_EQ(counters.tx_offered, 5u);
  EXPECT_EQ(counters.tx_packets, 5u);
  EXPECT_EQ(counters.tx_bytes, 5000u);
}

TEST_F(HomePortTest, ALongRunGoesBurstByBurst) {
  auto port = home();
  port.depart(frames(2 * burst + 3), now_);
  expect_sent_in_order(2 * burst + 3);
  EXPECT_EQ(device_.bursts, (std::vector<std::size_t>{burst, burst, 3}));
}

TEST_F(HomePortTest, WhatTheDeviceDoesNotTakeGoesFirstLater) {
  auto port = home();
  device_.takes = 10;
  port.depart(frames(2 * burst), now_);
  expect_sent_in_order(10);
  EXPECT_EQ(port.port().queue_packets(), burst) << "the device was not asked again";
  EXPECT_EQ(gauge_.bytes(), burst * 1000u);
  EXPECT_TRUE(port.due(now_));
  port.depart(frames(1), now_);
  expect_sent_in_order(10);
  device_.takes = SIZE_MAX;
  PacketList none;
  while (port.due(now_)) {
    port.send(now_, none);
  }
  expect_sent_in_order(2 * burst + 1);
  EXPECT_EQ(port.port().counters().tx_packets, 2 * burst + 1);
  EXPECT_EQ(gauge_.bytes(), 0u);
}

TEST_F(HomePortTest, ACountOfWhatWasSentNeverFalls) {
  auto port = home();
  device_.takes = 10;
  port.depart(frames(burst), now_);
  EXPECT_EQ(port.counters().tx_packets, 10u) << "the rest waits for the device";
  EXPECT_EQ(queue_.waiting_packets(), burst - 10);
  EXPECT_EQ(queue_.waiting_bytes(), (burst - 10) * 1000u);
  now_ += 2 * DeviceQueue::patience_usual;
  PacketList none;
  port.send(now_, none);
  freed_ = burst - 10;
  EXPECT_EQ(port.counters().tx_device_dropped, burst - 10);
  EXPECT_EQ(port.counters().tx_packets, 10u);
}

TEST_F(HomePortTest, WhatDoesNotFitTheQueueIsDropped) {
  forwarding::PortConfig config;
  config.queue.capacity_bytes = 3500;
  auto port = home(config);
  port.depart(frames(5), now_);
  PacketList none;
  port.send(now_, none);
  expect_sent_in_order(3);
  EXPECT_EQ(port.port().counters().queue_tail_dropped, 2u);
}

TEST_F(HomePortTest, AShapedRunWaitsForTheLine) {
  forwarding::PortConfig config;
  config.queue.rate_bps = 8'000'000;  // one frame in a millisecond
  auto port = home(config);
  port.depart(frames(30), now_);
  PacketList none;
  port.send(now_, none);
  EXPECT_LT(device_.sent.size(), 30u);
  EXPECT_GT(port.deadline(), now_);
}

// The device always has more than a burst, so it is never known what the neighbour says just now.
TEST_F(HomePortTest, AnOverloadDoesNotStopWhatLeaves) {
  std::vector<forwarding::PortConfig> ports(2);
  for (auto& config : ports) {
    config.queue.rate_bps = 800'000'000;  // a frame in ten microseconds
    config.queue.capacity_bytes = 1'000'000;
    config.flow = {.mode = forwarding::FlowControl::pfc, .reaction = 50us};
  }
  std::vector<forwarding::PortBuffer> buffers(2);
  auto port = home(ports[0]);
  port.control_flow({buffers, 0, nullptr}, ports[0], forwarding::plan_flow_control(ports));
  PacketList none;
  std::size_t sent = 0;
  for (int round = 0; round < 2000; ++round) {
    device_.sent.clear();
    now_ += 10us;
    for (std::size_t i = 0; i < burst; ++i) {
      device_.arriving.push_back(frame());
    }
    PacketList ready;
    port.receive(pool_, now_, ready);
    ready.clear();
    if (round % 10 == 0) {
      port.depart(frames(1), now_);
    }
    while (port.send(now_, none)) {
    }
    sent += device_.sent.size();
  }
  EXPECT_GT(sent, 100u) << "of 200: the last wait for what the ring may hold";
}

// What the neighbour goes on to send, though it is asked to be silent, does not stop what leaves
// either.
TEST_F(HomePortTest, AShareThatIsFullDoesNotStopWhatLeaves) {
  std::vector<forwarding::PortConfig> ports(2);
  for (auto& config : ports) {
    config.queue.rate_bps = 800'000'000;
    config.queue.capacity_bytes = 1'000'000;
    config.flow = {.mode = forwarding::FlowControl::pfc, .reaction = 50us};
  }
  std::vector<forwarding::PortBuffer> buffers(2);
  auto port = home(ports[0]);
  const auto plan = forwarding::plan_flow_control(ports);
  port.control_flow({buffers, 0, nullptr}, ports[0], plan);
  PacketList none;
  port.receive(pool_, now_, none);
  buffers[0].charge(0, plan.ports[0].full - plan.ports[0].frame_bytes);  // room for one
  std::size_t sent = 0;
  for (int round = 0; round < 2000; ++round) {
    device_.sent.clear();
    now_ += 10us;
    device_.arriving.push_back(frame());
    PacketList ready;
    port.receive(pool_, now_, ready);
    EXPECT_EQ(ready.size(), 1u);
    ready.clear();
    if (round % 10 == 0) {
      port.depart(frames(1), now_);
    }
    while (port.send(now_, none)) {
    }
    sent += device_.sent.size();
  }
  EXPECT_GT(sent, 100u) << "of 200";
}

TEST_F(HomePortTest, APortAnnouncesWhatComesWhereADescriptorTellsAll) {
  auto port = home();
  EXPECT_FALSE(port.announces()) << "the device has none";
  queue_.set_input(7);
  EXPECT_TRUE(port.announces());
  EXPECT_EQ(port.device()->input(), 7);
  device_.takes = 1;
  port.depart(frames(2), now_);
  EXPECT_FALSE(port.announces()) << "no descriptor says when the device takes the other frame";
  device_.takes = SIZE_MAX;
  PacketList none;
  port.send(now_, none);
  EXPECT_TRUE(port.announces());
  queue_.pause(true);
  EXPECT_TRUE(port.announces());
  EXPECT_EQ(port.device()->input(), -1) << "nobody reads";
}

TEST_F(HomePortTest, APortWithFlowControlLooksForItself) {
  std::vector<forwarding::PortConfig> ports(2);
  for (auto& config : ports) {
    config.flow = {.mode = forwarding::FlowControl::pause};
  }
  std::vector<forwarding::PortBuffer> buffers(2);
  queue_.set_input(7);
  auto port = home(ports[0]);
  port.control_flow({buffers, 0, nullptr}, ports[0], forwarding::plan_flow_control(ports));
  EXPECT_FALSE(port.announces());
}

TEST_F(HomePortTest, AFrameThatTheKernelWouldLoseIsDroppedAndCounted) {
  auto port = home();
  queue_.set_frame_bytes_max(1000);
  const auto sent = [&](std::uint32_t bytes, std::uint16_t type) {
    device_.sent.clear();
    auto longer = frame(bytes);
    reinterpret_cast<wire::EthernetHeader*>(longer->data())->type = type;
    port.depart(PacketList(std::move(longer)), now_);
    return device_.sent.size();
  };
  EXPECT_EQ(sent(1000, wire::ethertype::ipv4), 1u);
  EXPECT_EQ(sent(1001, wire::ethertype::ipv4), 0u);
  EXPECT_EQ(sent(1004, wire::ethertype::vlan), 1u);
  EXPECT_EQ(sent(1005, wire::ethertype::vlan), 0u);
  EXPECT_EQ(queue_.dropped(), 2u);
  EXPECT_TRUE(port.idle());
}

TEST_F(HomePortTest, AQueueThatIsPausedSendsNothing) {
  auto port = home();
  queue_.pause(true);
  port.depart(frames(5), now_);
  EXPECT_TRUE(device_.sent.empty());
  EXPECT_EQ(port.port().queue_packets(), 5u);
}

TEST_F(HomePortTest, ABurstFromTheDeviceBelongsToThePoolOfItsCore) {
  auto port = home();
  HeapMbufPool other(0);
  for (std::size_t i = 0; i < 3; ++i) {
    device_.arriving.push_back(frame());
    device_.arriving.back()->noted = 1;
    device_.arriving.back()->vlan = 10;
    device_.arriving.back()->marking = 67;
  }
  place_.port = 7;
  PacketList ready;
  EXPECT_TRUE(port.receive(other, now_, ready));
  ASSERT_EQ(ready.size(), 3u);
  for (std::uint64_t i = 0; i < 3; ++i) {
    const auto packet = ready.pop();
    EXPECT_EQ(packet->driver_tag, i);
    EXPECT_EQ(packet->ingress, 7);
    EXPECT_EQ(packet->egress, no_port);
    EXPECT_EQ(packet->noted, 0);
    EXPECT_EQ(packet->vlan, 0);
    EXPECT_EQ(packet->marking, 0);
    EXPECT_EQ(packet->length, 1000u);
    EXPECT_EQ(packet->pool, &other);
    packet->pool = &pool_;
  }
  EXPECT_FALSE(port.receive(other, now_, ready));
  EXPECT_EQ(port.port().counters().rx_packets, 3u);
  EXPECT_EQ(port.port().counters().rx_bytes, 3000u);
}

}  // namespace
}  // namespace tributary::dataplane
