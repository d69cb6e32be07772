// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/flow_control.h"

#include <gtest/gtest.h>

#include "forwarding/egress_queue.h"
#include "forwarding/flow_plan.h"
#include "forwarding/occupancy.h"
#include "forwarding/pause_speaker.h"
#include "forwarding/port_flow.h"
#include "support/frames.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

constexpr PortIndex from = 1;   // guarded
constexpr PortIndex other = 2;  // not guarded
constexpr std::uint8_t cs7 = 56 << 2;

BufferLimits limits(FlowControl mode) {
  return {mode, 10'000, 5'000, 4'000, 2'000, 20'000, 1000, 5ms, true};
}

FlowPlan plan_of(FlowControl mode, std::uint64_t others = 2'000) {
  FlowPlan plan;
  plan.ports = {limits(mode), limits(mode), {}};
  plan.others_bytes = others;
  plan.by_class = mode == FlowControl::pfc;
  return plan;
}

class GuardedQueueTest : public testing::Test {
 protected:
  PacketPtr frame(std::uint32_t bytes, std::uint8_t tos = 0, PortIndex ingress = from) {
    const test::Endpoints ends{test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1),
                               test::Ip(10, 0, 0, 2)};
    auto packet = test::make_udp(pool_, ends, 1, 2, bytes - 14 - 20 - 8);
    test::ip_of(*packet).tos = tos;
    wire::finish_ipv4(test::ip_of(*packet));
    packet->ingress = ingress;
    return packet;
  }
  void guard(FlowControl mode) { queue_.guard(buffers_, 0, plan_of(mode)); }
  // The neighbour pauses these classes.
  void stop(std::uint8_t classes, Time until) {
    for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
      if (((classes >> priority) & 1) != 0) {
        buffers_[0].silence(priority, until);
      }
    }
  }
  std::vector<std::uint32_t> lengths(Time now, std::size_t max = 100) {
    PacketList out;
    queue_.dequeue(now, out, max);
    std::vector<std::uint32_t> lengths;
    while (const auto packet = out.pop()) {
      lengths.push_back(packet->length);
    }
    return lengths;
  }
  ~GuardedQueueTest() override {
    queue_.clear();
    EXPECT_EQ(pool_.outstanding(), 0u);
    for (const auto& buffer : buffers_) {
      EXPECT_EQ(buffer.bytes(), 0u);
    }
  }

  using Lengths = std::vector<std::uint32_t>;
  HeapPacketPool pool_{64, 1600};
  std::vector<PortBuffer> buffers_ = std::vector<PortBuffer>(3);
  EgressQueue queue_{{0, 10'000, 0}};
};

TEST_F(GuardedQueueTest, ChargesWhatWaitsToThePortItCameInBy) {
  guard(FlowControl::pfc);
  queue_.enqueue(frame(1000), start);
  queue_.enqueue(frame(500, cs7), start);
  queue_.enqueue(frame(100, cs7), start);
  queue_.enqueue(frame(400, 0, other), start);
  EXPECT_EQ(buffers_[from].bytes(0), 1000u);
  EXPECT_EQ(buffers_[from].bytes(7), 500u + buffer_bytes_min);
  EXPECT_EQ(buffers_[other].bytes(), 0u);
  EXPECT_EQ(lengths(start, 2), Lengths({1000, 500}));
  EXPECT_EQ(buffers_[from].bytes(), buffer_bytes_min);
}

TEST_F(GuardedQueueTest, KeepsRoomForThoseWhoObey) {
  guard(FlowControl::pause);
  for (int i = 0; i < 4; ++i) {
    queue_.enqueue(frame(1000, 0, other), start);
  }
  EXPECT_EQ(queue_.packets(), 2u);
  EXPECT_EQ(queue_.tail_dropped(), 2u);
  for (int i = 0; i < 9; ++i) {
    queue_.enqueue(frame(1000), start);
  }
  EXPECT_EQ(queue_.packets(), 10u);
  EXPECT_EQ(queue_.tail_dropped(), 3u);
}

TEST_F(GuardedQueueTest, AClassOfThoseWhoDoNotLeavesHalfToTheOthers) {
  guard(FlowControl::pfc);
  for (int i = 0; i < 3; ++i) {
    queue_.enqueue(frame(500, cs7, other), start);
    queue_.enqueue(frame(500, 0, other), start);
  }
  EXPECT_EQ(queue_.packets(), 4u);
  EXPECT_EQ(queue_.tail_dropped(), 2u);
}

TEST_F(GuardedQueueTest, WhatMayBeLostIsNotChargedAndLeavesRoom) {
  auto plan = plan_of(FlowControl::pfc);
  plan.ports[from].classes = {0x80};
  queue_.guard(buffers_, 0, plan);
  for (int i = 0; i < 4; ++i) {
    queue_.enqueue(frame(500), start);
    queue_.enqueue(frame(500, cs7), start);
  }
  EXPECT_EQ(buffers_[from].bytes(0), 0u);
  EXPECT_EQ(buffers_[from].bytes(7), 2'000u);
  EXPECT_EQ(queue_.packets(), 6u);
  EXPECT_EQ(queue_.tail_dropped(), 2u) << "of priority 0";
}

TEST_F(GuardedQueueTest, StopsUntilTheSilenceIsOver) {
  guard(FlowControl::pause);
  queue_.enqueue(frame(1000), start);
  stop(wire::all_classes, start + 3ms);
  EXPECT_EQ(lengths(start), Lengths{});
  EXPECT_EQ(queue_.deadline(), start + 3ms);
  EXPECT_EQ(lengths(start + 3ms - 1ns), Lengths{});
  EXPECT_EQ(lengths(start + 3ms), Lengths({1000}));
  EXPECT_EQ(queue_.pauses().paused, 3ms);
}

TEST_F(GuardedQueueTest, WhatKeepsTheNetworkRunningIsNotStopped) {
  guard(FlowControl::pause);
  stop(wire::all_classes, start + 3ms);
  queue_.enqueue(frame(1000), start);
  queue_.enqueue(frame(66, 0xc0, no_port), start);
  auto pause = pool_.allocate();
  const auto bytes = wire::make_pause(test::mac(1), {});
  pause->length = bytes.size();
  std::copy(bytes.begin(), bytes.end(), pause->data());
  queue_.enqueue(std::move(pause), start);
  EXPECT_LE(queue_.deadline(), start);
  EXPECT_EQ(lengths(start), Lengths({66, 60})) << "in their own order";
}

TEST_F(GuardedQueueTest, StopsSomeClassesAndLetsTheOldestOfTheOthersGo) {
  guard(FlowControl::pfc);
  stop(0x80, start + 3ms);
  queue_.enqueue(frame(301, cs7), start);
  queue_.enqueue(frame(302), start + 1us);
  queue_.enqueue(frame(303, cs7), start + 2us);
  queue_.enqueue(frame(304, 0x20), start + 3us);
  EXPECT_EQ(lengths(start + 1ms, 1), Lengths({302}));
  queue_.enqueue(frame(305), start + 1ms);
  EXPECT_EQ(lengths(start + 2ms, 1), Lengths({304}));
  EXPECT_EQ(lengths(start + 3ms), Lengths({301, 303, 305}));
}

// The order is that of one FIFO, also for frames that were put aside in two classes.
TEST_F(GuardedQueueTest, WhatWasPutAsideGoesByAge) {
  guard(FlowControl::pfc);
  stop(0x81, start + 3ms);
  queue_.enqueue(frame(301, cs7), start);
  queue_.enqueue(frame(302), start + 1us);
  queue_.enqueue(frame(303, cs7), start + 2us);
  EXPECT_EQ(lengths(start + 1ms), Lengths{});
  EXPECT_EQ(queue_.packets(), 3u);
  EXPECT_EQ(queue_.deadline(), start + 3ms);
  queue_.enqueue(frame(304), start + 1ms);
  stop(0x01, start + 2ms);
  EXPECT_EQ(lengths(start + 2ms), Lengths({302, 304}));
  EXPECT_EQ(lengths(start + 3ms), Lengths({301, 303}));
}

// The rate is 8 Mbit/s, and a frame of 976 bytes takes a millisecond. The shaper may be ahead by
// three.
TEST_F(GuardedQueueTest, ALineDoesNotMakeUpForItsSilence) {
  queue_.configure({8'000'000, 1 << 20, 0});
  guard(FlowControl::pause);
  for (int i = 0; i < 30; ++i) {
    queue_.enqueue(frame(976), start);
  }
  stop(wire::all_classes, start + 20ms);
  lengths(start);
  EXPECT_LE(lengths(start + 20ms).size(), 4u);
  EXPECT_NEAR(static_cast<double>(lengths(start + 21ms).size()), 1, 1);
}

// The neighbour's PAUSE frame may still lie in the device.
TEST_F(GuardedQueueTest, ALineThatWasNotHeardMakesUpForLittle) {
  queue_.configure({8'000'000, 1 << 20, 0});
  guard(FlowControl::pause);
  queue_.hear(start);
  for (int i = 0; i < 30; ++i) {
    queue_.enqueue(frame(976), start);
  }
  EXPECT_EQ(lengths(start).size(), 4u);
  EXPECT_EQ(lengths(start + 20ms).size(), 1u);
  queue_.hear(start + 20ms);
  EXPECT_EQ(lengths(start + 20ms).size(), 19u);
}

TEST_F(GuardedQueueTest, TheWatchdogDropsWhatIsStoppedForTooLong) {
  guard(FlowControl::pfc);
  for (auto now = start; now < start + 2 * pause_watchdog; now += 10ms) {
    stop(0x80, now + 20ms);
    if (now == start) {
      queue_.enqueue(frame(300, cs7), start);
      queue_.enqueue(frame(300, cs7), start);
    }
    queue_.watch(now);
    EXPECT_EQ(lengths(now), Lengths{});
    EXPECT_EQ(queue_.packets(), now < start + pause_watchdog ? 2u : 0u) << (now - start) / 1ms;
  }
  EXPECT_EQ(queue_.pauses().dropped, 2u);
  EXPECT_EQ(queue_.bytes(), 0u);
  EXPECT_EQ(buffers_[from].bytes(), 0u);
}

TEST_F(GuardedQueueTest, ABreakCalmsTheWatchdog) {
  guard(FlowControl::pause);
  queue_.enqueue(frame(300), start);
  for (auto now = start; now < start + 3 * pause_watchdog; now += 10ms) {
    const bool breath = (now - start) % (pause_watchdog / 2) == 0ms;
    stop(wire::all_classes, breath ? now : now + 20ms);
    queue_.watch(now);
  }
  EXPECT_EQ(queue_.pauses().dropped, 0u);
}

TEST_F(GuardedQueueTest, ChargesAreRightAfterAReload) {
  queue_.enqueue(frame(300, cs7), start);
  guard(FlowControl::pause);
  EXPECT_EQ(buffers_[from].bytes(0), 300u);
  stop(0x80, start + 1s);
  queue_.enqueue(frame(400), start);
  EXPECT_EQ(lengths(start, 1), Lengths({400}));
  guard(FlowControl::pfc);
  EXPECT_EQ(buffers_[from].bytes(0), 0u);
  EXPECT_EQ(buffers_[from].bytes(7), 300u);
  EXPECT_EQ(queue_.packets(), 1u);
  queue_.guard(buffers_, 0, {});
  EXPECT_EQ(buffers_[from].bytes(), 0u);
  EXPECT_EQ(lengths(start), Lengths({300}));
}

std::vector<std::uint16_t> quanta(const wire::Pause& pause) {
  return {pause.quanta.begin(), pause.quanta.end()};
}

TEST(PauseSpeaker, AsksForSilenceAgainAndEndsIt) {
  PauseSpeaker speaker;
  speaker.configure(limits(FlowControl::pause));
  PortBuffer buffer;
  buffer.charge(0, 10'000);
  EXPECT_FALSE(speaker.poll(buffer, start));
  EXPECT_EQ(speaker.deadline(), never);
  buffer.charge(3, 1);
  const auto first = speaker.poll(buffer, start);
  ASSERT_TRUE(first);
  EXPECT_FALSE(first->by_class);
  EXPECT_EQ(first->quanta.front(), 1000);
  EXPECT_EQ(speaker.deadline(), start + 5ms);
  EXPECT_FALSE(speaker.poll(buffer, start + 5ms - 1ns));
  EXPECT_TRUE(speaker.poll(buffer, start + 5ms)) << "before the silence ends";
  buffer.discharge(0, 5'000);
  EXPECT_FALSE(speaker.poll(buffer, start + 6ms)) << "still above xon";
  buffer.discharge(0, 1);
  const auto last = speaker.poll(buffer, start + 6ms);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->quanta.front(), 0);
  EXPECT_EQ(speaker.deadline(), never);
  EXPECT_FALSE(speaker.poll(buffer, start + 1s));
}

TEST(PauseSpeaker, SpeaksOfTheClassThatIsFull) {
  PauseSpeaker speaker;
  speaker.configure(limits(FlowControl::pfc));
  PortBuffer buffer;
  buffer.charge(7, 4'001);
  auto pause = speaker.poll(buffer, start);
  ASSERT_TRUE(pause);
  EXPECT_TRUE(pause->by_class);
  EXPECT_EQ(pause->classes, 0x80);
  EXPECT_EQ(quanta(*pause), (std::vector<std::uint16_t>{0, 0, 0, 0, 0, 0, 0, 1000}));
  buffer.charge(2, 4'001);
  pause = speaker.poll(buffer, start);
  EXPECT_EQ(pause->classes, 0x84);
  buffer.discharge(7, 3'000);
  pause = speaker.poll(buffer, start);
  EXPECT_EQ(pause->classes, 0x84);
  EXPECT_EQ(quanta(*pause), (std::vector<std::uint16_t>{0, 0, 1000, 0, 0, 0, 0, 0}));
}

TEST(PauseSpeaker, SilencesAllClassesWhenThePortIsFull) {
  PauseSpeaker speaker;
  speaker.configure(limits(FlowControl::pfc));
  PortBuffer buffer;
  for (std::size_t priority = 0; priority < 3; ++priority) {
    buffer.charge(priority, 3'500);
  }
  const auto pause = speaker.poll(buffer, start);
  ASSERT_TRUE(pause);
  EXPECT_EQ(pause->classes, wire::all_classes);
  EXPECT_EQ(pause->quanta[5], 1000);
}

TEST(PauseSpeaker, SpeaksOfNoClassThatMayLose) {
  PauseSpeaker speaker;
  auto some = limits(FlowControl::pfc);
  some.classes = {0x88};
  speaker.configure(some);
  PortBuffer buffer;
  buffer.charge(3, 10'001);
  const auto pause = speaker.poll(buffer, start);
  ASSERT_TRUE(pause);
  EXPECT_EQ(pause->classes, 0x88);
  EXPECT_EQ(quanta(*pause), (std::vector<std::uint16_t>{0, 0, 0, 1000, 0, 0, 0, 1000}));
}

TEST(PortFlow, ObeysInTheClassesThatMayNotLose) {
  std::vector<PortBuffer> buffers(1);
  PortConfig port;
  port.queue.rate_bps = 512'000'000;
  port.flow = {.mode = FlowControl::pfc, .lossless = {0x08}};
  PortFlow flow({buffers, 0}, port, plan_flow_control(std::vector{port}));
  wire::Pause pause{.by_class = true, .classes = wire::all_classes, .quanta = {}};
  pause.quanta.fill(1000);
  flow.obey(pause, start);
  EXPECT_EQ(buffers[0].silent(3), start + 1ms);
  EXPECT_EQ(buffers[0].silent(0), Time{});
  pause.by_class = false;
  flow.obey(pause, start);
  EXPECT_EQ(buffers[0].silent(0), start + 1ms) << "a PAUSE is for all";
}

TEST(FlowPlan, LeavesHalfToClassesThatMayLose) {
  PortConfig port;
  port.queue.rate_bps = 200'000'000;
  port.flow.mode = FlowControl::pfc;
  const auto usable = std::uint64_t{port.queue.capacity_bytes} - 2048;
  const auto others_of = [](const PortConfig& config) {
    return plan_flow_control(std::vector(2, config)).others_bytes;
  };
  EXPECT_NEAR(static_cast<double>(others_of(port)), static_cast<double>(usable) / 8, 2);
  port.flow.lossless = {0x08};
  EXPECT_NEAR(static_cast<double>(others_of(port)), static_cast<double>(usable) / 2, 2);
  EXPECT_EQ(plan_flow_control(std::vector(2, port)).ports[1].classes, Priorities{0x08});
}

// The example of docs/reference/configuration-ports.md.
TEST(FlowPlan, SaysWhatIsInForce) {
  PortConfig port;
  port.queue.rate_bps = 200'000'000;
  port.flow.mode = FlowControl::pause;
  const auto plan = plan_flow_control(std::vector(4, port));
  EXPECT_EQ(plan.ports[3].headroom, 78'028u);
  EXPECT_EQ(plan.ports[3].xoff, 150'900u);
  EXPECT_EQ(plan.ports[3].xon, 75'450u);
}

TEST(PauseTime, IsThatOfTheBitsOnTheLine) {
  EXPECT_EQ(pause_time(1000, 512'000'000), 1ms);
  EXPECT_EQ(pause_time(0xffff, 10'000'000'000), 3'355'392ns);
}

}  // namespace
}  // namespace tributary::forwarding
