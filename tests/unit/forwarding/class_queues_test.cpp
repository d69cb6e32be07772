// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/class_queues.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "forwarding/egress_queue.h"
#include "forwarding/flow_plan.h"
#include "support/frames.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

constexpr std::uint8_t expedited = 46;
constexpr std::uint8_t bulk = 8;

TrafficClass class_of(std::string name, std::vector<Codepoint> codepoints,
                      std::uint32_t weight = 1) {
  TrafficClass made;
  made.name = std::move(name);
  made.codepoints = std::move(codepoints);
  made.weight = weight;
  made.ecn_threshold_packets = 0;
  return made;
}

class ClassQueuesTest : public testing::Test {
 protected:
  PacketPtr frame(std::uint8_t codepoint, std::uint32_t bytes = 1000) {
    const test::Endpoints ends{test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1),
                               test::Ip(10, 0, 0, 2)};
    auto packet = test::make_udp(pool_, ends, 1, 2, bytes - 14 - 20 - 8);
    test::ip_of(*packet).tos = static_cast<std::uint8_t>(codepoint << 2 | wire::ecn::ect0);
    wire::finish_ipv4(test::ip_of(*packet));
    packet->ingress = 0;
    return packet;
  }
  void fill(ClassQueues& queues, std::uint8_t codepoint, int count, std::uint32_t bytes = 1000) {
    for (int i = 0; i < count; ++i) {
      ASSERT_EQ(queues.enqueue(frame(codepoint, bytes), start), ClassQueues::Verdict::taken);
    }
  }
  // Returns the bytes of each codepoint in the next `count` frames.
  std::map<int, std::uint64_t> serve(ClassQueues& queues, int count) {
    std::map<int, std::uint64_t> bytes;
    for (int i = 0; i < count; ++i) {
      const auto next = queues.next(start);
      if (!next) {
        break;
      }
      bytes[codepoint_of(*next)] += next->frame_bytes();
    }
    return bytes;
  }
  ~ClassQueuesTest() override { EXPECT_EQ(pool_.outstanding(), 0u); }

  static constexpr std::uint32_t capacity = 4 << 20;
  HeapPacketPool pool_{8192, 1600};
};

TEST_F(ClassQueuesTest, AFrameWhoseTagIsTrustedIsOfTheClassOfItsPriority) {
  auto tagged = class_of("tagged", {});
  tagged.pcp = Priorities{0x08};
  ClassQueues queues(std::vector{class_of("bulk", {{bulk}}), tagged, class_of("rest", {})},
                     capacity);
  const auto put = [&](std::size_t priority) {
    auto packet = frame(bulk);
    packet->marking = marking_of_priority(priority);
    EXPECT_EQ(queues.enqueue(std::move(packet), start), ClassQueues::Verdict::taken);
  };
  fill(queues, bulk, 1);
  put(3);
  put(3);
  put(1);
  std::vector<std::uint64_t> waiting;
  for (const auto& row : queues.rows()) {
    waiting.push_back(row.packets);
  }
  EXPECT_EQ(waiting, (std::vector<std::uint64_t>{1, 2, 1}));
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, WeightsShareTheLineByBytes) {
  ClassQueues queues(std::vector{class_of("bulk", {{bulk}}, 3), class_of("rest", {})}, capacity);
  fill(queues, bulk, 1200, 300);
  fill(queues, 0, 400, 1500);
  const auto bytes = serve(queues, 1000);
  const auto on_line = [](std::uint64_t sum, std::uint64_t each) {
    return static_cast<double>(sum / each * line_bytes(each));
  };
  EXPECT_NEAR(on_line(bytes.at(bulk), 300) / on_line(bytes.at(0), 1500), 3.0,
              0.1);  // it is cut off within a round
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, SharesAreExactWhateverTheWeightsAndTheFrames) {
  ClassQueues queues(std::vector{class_of("expedited", {{expedited}}, 1000),
                                 class_of("bulk", {{bulk}}, 7), class_of("rest", {})},
                     capacity);
  fill(queues, expedited, 8, 1500);
  fill(queues, bulk, 8, 300);
  fill(queues, 0, 8, 60);
  std::map<int, double> on_line;
  for (int i = 0; i < 200'000; ++i) {
    const auto next = queues.next(start);
    const auto codepoint = codepoint_of(*next);
    on_line[codepoint] += static_cast<double>(line_bytes(next->frame_bytes()));
    fill(queues, codepoint, 1, next->frame_bytes());
  }
  const auto unit = on_line[expedited] / 1000;
  EXPECT_NEAR(on_line[bulk], 7 * unit, line_bytes(300) * 1.1);
  EXPECT_NEAR(on_line[0], unit, line_bytes(60) * 1.1);
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, HeavyClassesTakeTurnsFrameByFrame) {
  ClassQueues queues(std::vector{class_of("bulk", {{bulk}}, 500), class_of("rest", {}, 500)},
                     capacity);
  fill(queues, bulk, 100);
  fill(queues, 0, 100);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(serve(queues, 2).size(), 2u);
  }
}

TEST_F(ClassQueuesTest, ALightClassThatWasSilentWaitsForOneFrameOfEachOther) {
  ClassQueues queues(std::vector{class_of("expedited", {{expedited}}, 1000),
                                 class_of("bulk", {{bulk}}, 1000), class_of("rest", {})},
                     capacity);
  fill(queues, expedited, 1000);
  fill(queues, bulk, 1000);
  serve(queues, 100);
  fill(queues, 0, 1);
  EXPECT_EQ(serve(queues, 3).count(0), 1u);
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, WhatAClassSentOnALineThatNobodyWantedCostsItNothing) {
  ClassQueues queues(std::vector{class_of("bulk", {{bulk}}, 1000), class_of("rest", {})}, capacity);
  fill(queues, 0, 10);
  serve(queues, 10);
  fill(queues, bulk, 100);
  fill(queues, 0, 1);
  EXPECT_EQ(serve(queues, 2).count(0), 1u);
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, AClassThatSendsOneFrameAtATimeGetsNoMoreThanItsShare) {
  ClassQueues queues(std::vector{class_of("bulk", {{bulk}}, 10), class_of("rest", {})}, capacity);
  fill(queues, bulk, 2);
  int of_rest = 0;
  for (int i = 0; i < 1100; ++i) {
    if (codepoint_of(*queues.next(start)) == 0) {
      ++of_rest;
      continue;  // it is silent for a turn
    }
    fill(queues, bulk, 1);
    if (queues.rows()[1].packets == 0) {
      fill(queues, 0, 1);
    }
  }
  EXPECT_NEAR(of_rest, 100, 1);
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, WhatOneClassDoesNotUseTheOthersGet) {
  ClassQueues queues(std::vector{class_of("bulk", {{bulk}}, 100), class_of("rest", {})}, capacity);
  fill(queues, 0, 10);
  EXPECT_EQ(serve(queues, 10).at(0), 10'000u);
  EXPECT_EQ(queues.next(start), nullptr);
  EXPECT_EQ(queues.deadline(), never);
}

TEST_F(ClassQueuesTest, LongFramesGoWhereAQuantumIsShorter) {
  HeapPacketPool pool(64, 9100);
  ClassQueues queues(std::vector{class_of("bulk", {{bulk}}), class_of("rest", {})}, capacity);
  auto jumbo = pool.allocate();
  jumbo->length = 9000;
  std::fill_n(jumbo->data(), 9000, std::byte{0});
  EXPECT_EQ(queues.enqueue(std::move(jumbo), start), ClassQueues::Verdict::taken);
  const auto next = queues.next(start);
  ASSERT_NE(next, nullptr);
  EXPECT_EQ(next->frame_bytes(), 9000u);
}

TEST_F(ClassQueuesTest, StrictClassesGoFirst) {
  auto voice = class_of("voice", {{expedited}});
  voice.strict = true;
  ClassQueues queues(std::vector{class_of("rest", {}), voice}, capacity);
  fill(queues, 0, 5);
  fill(queues, expedited, 5);
  EXPECT_EQ(serve(queues, 5), (std::map<int, std::uint64_t>{{expedited, 5000}}));
  EXPECT_EQ(serve(queues, 5), (std::map<int, std::uint64_t>{{0, 5000}}));
}

// Frames have 1226 bytes, 1250 on the line: one in a millisecond.
TEST_F(ClassQueuesTest, AClassKeepsToItsRateAndTellsWhen) {
  auto voice = class_of("voice", {{expedited}});
  voice.strict = true;
  voice.rate_bps = 10'000'000;
  ClassQueues queues(std::vector{voice, class_of("rest", {})}, capacity);
  fill(queues, expedited, 100, 1226);
  int sent = 0;
  auto now = start;
  for (; now < start + 50ms; now = queues.deadline()) {
    while (queues.next(now)) {
      ++sent;
    }
    ASSERT_GT(queues.deadline(), now);
    ASSERT_EQ(queues.next(queues.deadline() - 1ns), nullptr);
  }
  EXPECT_NEAR(sent, 50, 4);
  fill(queues, 0, 1);
  EXPECT_LE(queues.deadline(), now) << "the other class waits for nothing";
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, NoClassTakesTheRoomOfOthers) {
  ClassQueues queues(std::vector{class_of("bulk", {{bulk}}), class_of("rest", {})}, 200'000);
  int taken = 0;
  while (queues.enqueue(frame(bulk), start) == ClassQueues::Verdict::taken) {
    ++taken;
  }
  EXPECT_EQ(taken, 100);
  EXPECT_EQ(queues.enqueue(frame(0), start), ClassQueues::Verdict::taken);
  const auto rows = queues.rows();
  EXPECT_EQ(rows[0].counters.tail_dropped, 1u);
  EXPECT_EQ(rows[1].counters.tail_dropped, 0u);
  QueueGauge gauge;
  queues.publish(gauge);
  EXPECT_EQ(gauge.bytes(0), 100'000u);
  EXPECT_EQ(gauge.bytes(1), 1000u) << "one is full, the other is not";
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, TinyFramesDoNotTakeAllBuffers) {
  auto rest = class_of("rest", {});
  rest.capacity_bytes = 256 * 100;
  ClassQueues queues(std::vector{rest, class_of("bulk", {{bulk}})}, capacity);
  int taken = 0;
  while (queues.enqueue(frame(0, 60), start) == ClassQueues::Verdict::taken) {
    ++taken;
  }
  EXPECT_EQ(taken, 100);
  queues.take_all().clear();
}

TEST_F(ClassQueuesTest, MarksAllAboveAStepAndARisingPartAlongARamp) {
  auto step = class_of("step", {});
  step.ecn_threshold_packets = 10;
  auto ramp = class_of("ramp", {{bulk}});
  ramp.ecn_threshold_packets = 10;
  ramp.ecn_ramp_packets = 100;
  ClassQueues queues(std::vector{step, ramp}, capacity);
  const auto marked_of = [&](std::uint8_t codepoint, int count) {
    int marked = 0;
    for (int i = 0; i < count; ++i) {
      marked += queues.enqueue(frame(codepoint), start) == ClassQueues::Verdict::marked ? 1 : 0;
    }
    return marked;
  };
  EXPECT_EQ(marked_of(0, 11), 0);
  EXPECT_EQ(marked_of(0, 20), 20);
  EXPECT_EQ(marked_of(bulk, 11), 0);
  EXPECT_NEAR(marked_of(bulk, 50), 50 * 51 / 2 / 100, 2);
  EXPECT_NEAR(marked_of(bulk, 49), 49 * 76 / 100, 3);
  EXPECT_EQ(marked_of(bulk, 20), 20) << "beyond the ramp";
  EXPECT_EQ(queues.rows()[0].counters.ecn_marked, 20u);
  queues.take_all().clear();
}

// Tests classes through the queue of a port.
class ClassedEgressQueueTest : public ClassQueuesTest {
 protected:
  QueueConfig config(std::uint64_t rate_bps) {
    QueueConfig made;
    made.rate_bps = rate_bps;
    made.capacity_bytes = capacity;
    made.ecn_threshold_packets = 0;
    made.classes = {class_of("bulk", {{bulk}}, 4), class_of("rest", {})};
    return made;
  }
  std::map<int, int> drain(EgressQueue& queue, Time now) {
    PacketList out;
    queue.dequeue(now, out, 10'000);
    std::map<int, int> frames;
    while (const auto frame = out.pop()) {
      ++frames[codepoint_of(*frame)];
    }
    return frames;
  }
};

TEST_F(ClassedEgressQueueTest, SharesTheRateOfThePort) {
  EgressQueue queue(config(100'000'000));
  for (int i = 0; i < 1000; ++i) {
    queue.enqueue(frame(bulk, 1226), start);
    queue.enqueue(frame(0, 1226), start);
  }
  std::map<int, int> sent;
  for (auto now = start; now <= start + 100ms; now += 1ms) {
    for (const auto& [codepoint, frames] : drain(queue, now)) {
      sent[codepoint] += frames;
    }
    ASSERT_GT(queue.deadline(), now);
  }
  EXPECT_NEAR(sent[bulk] + sent[0], 1010, 3);  // and a millisecond's allowance
  EXPECT_NEAR(static_cast<double>(sent[bulk]) / sent[0], 4.0, 0.1);
  EXPECT_EQ(queue.bytes(), queue.packets() * 1226);
  queue.clear();
  EXPECT_EQ(queue.packets(), 0u);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST_F(ClassedEgressQueueTest, NothingPassesByTheQueue) {
  EgressQueue queue(config(0));
  PacketList run;
  run.push(frame(bulk));
  EXPECT_EQ(queue.passing_bytes(run, 1), 0u);
}

TEST_F(ClassedEgressQueueTest, WhatKeepsTheNetworkRunningGoesBeforeStrictClasses) {
  auto with_strict = config(0);
  with_strict.classes[0].strict = true;
  EgressQueue queue(with_strict);
  queue.enqueue(frame(bulk), start);
  auto control = frame(48, 60);
  control->ingress = no_port;
  queue.enqueue(std::move(control), start);
  PacketList out;
  queue.dequeue(start, out, 1);
  EXPECT_EQ(codepoint_of(*out.front()), 48);
  queue.clear();
}

TEST_F(ClassedEgressQueueTest, FramesOutliveAChangeOfTheClasses) {
  EgressQueue queue(config(0));
  for (int i = 0; i < 10; ++i) {
    queue.enqueue(frame(bulk), start);
    queue.enqueue(frame(0), start);
  }
  PacketList out;
  queue.dequeue(start, out, 2);
  const auto counted = queue.class_rows()[0].counters.tx_packets;
  ASSERT_GT(counted, 0u);
  out.clear();

  auto other = config(0);
  other.classes.insert(other.classes.begin() + 1, class_of("voice", {{expedited}}));
  queue.configure(other);
  EXPECT_EQ(queue.packets(), 18u);
  EXPECT_EQ(queue.bytes(), 18'000u);
  EXPECT_EQ(queue.class_rows()[0].counters.tx_packets, counted);

  queue.configure({});
  EXPECT_EQ(queue.packets(), 18u);
  EXPECT_TRUE(queue.class_rows().empty());
  queue.configure(other);
  EXPECT_EQ(queue.packets(), 18u);
  EXPECT_EQ(drain(queue, start)[0], 9) << "one of each class went";
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST_F(ClassedEgressQueueTest, AChangeNeitherDropsNorMarksWhatWaits) {
  EgressQueue queue(config(0));
  for (int i = 0; i < 10; ++i) {
    queue.enqueue(frame(bulk), start);
    queue.enqueue(frame(0), start);
  }
  auto narrow = config(0);
  narrow.capacity_bytes = 4000;
  for (auto& one : narrow.classes) {
    one.ecn_threshold_packets = 1;
  }
  queue.configure(narrow);
  EXPECT_EQ(queue.packets(), 20u);
  EXPECT_EQ(queue.bytes(), 20'000u);
  EXPECT_EQ(queue.tail_dropped(), 0u);
  queue.enqueue(frame(bulk), start);
  EXPECT_EQ(queue.tail_dropped(), 1u) << "what is new finds no room";
  PacketList out;
  queue.dequeue(start, out, 20);
  while (const auto packet = out.pop()) {
    EXPECT_EQ(test::ip_of(*packet).tos & wire::ecn::mask, wire::ecn::ect0);
  }
}

TEST_F(ClassQueuesTest, AClassKeepsToItsRateOverAChange) {
  const std::vector<TrafficClass> classes = {class_of("slow", {{bulk}}), class_of("rest", {})};
  auto slow = classes;
  slow[0].rate_bps = 8'000'000;
  ClassQueues before(slow, 1 << 20);
  fill(before, bulk, 20);
  auto sent = serve(before, 20)[bulk];
  ClassQueues after(slow, 1 << 20);
  after.inherit(before);
  for (auto rest = before.take_all(); auto packet = rest.pop();) {
    after.put_back(std::move(packet));
  }
  EXPECT_EQ(serve(after, 20)[bulk], 0u) << sent;
}

// The class of RoCE is lossless by the ports with priority flow control, of which the queue's is
// one.
class LosslessClassTest : public ClassQueuesTest {
 protected:
  static constexpr PortIndex guarded = 1;
  static constexpr PortIndex unguarded = 2;
  static constexpr std::uint8_t roce = 24;
  static constexpr std::uint8_t also_roce = 40;      // another class selector, the same priority
  static constexpr std::uint8_t same_selector = 28;  // as `roce`, but it is not of its class

  LosslessClassTest() {
    ports_[0].queue.classes = {class_of("roce", {{roce}, {also_roce}}), class_of("rest", {})};
    ports_[0].queue.classes[0].pfc_priority = 3;
    ports_[0].queue.capacity_bytes = 400'000;
    ports_[0].queue.rate_bps = 100'000'000;
    ports_[0].flow = {.mode = FlowControl::pfc, .reaction = 50us};
    ports_[guarded] = ports_[unguarded] = ports_[0];
    ports_[unguarded].flow.mode = FlowControl::off;
    auto config = ports_[0].queue;
    config.rate_bps = 0;
    queue_.configure(config);
    queue_.guard(buffers_, 0, plan());
  }
  ~LosslessClassTest() override {
    queue_.clear();
    for (const auto& buffer : buffers_) {
      EXPECT_EQ(buffer.bytes(), 0u);
    }
  }
  FlowPlan plan() const { return plan_flow_control(ports_); }
  void put(std::uint8_t codepoint, int count = 1, PortIndex ingress = guarded) {
    for (int i = 0; i < count; ++i) {
      auto packet = frame(codepoint);
      packet->ingress = ingress;
      queue_.enqueue(std::move(packet), start);
    }
  }
  void stop(std::uint8_t priorities, Time until) {
    for (std::size_t priority = 0; priority < wire::priority_classes; ++priority) {
      if (((priorities >> priority) & 1) != 0) {
        buffers_[0].silence(priority, until);
      }
    }
  }
  std::vector<int> drain(Time now) {
    PacketList out;
    queue_.dequeue(now, out, 10'000);
    std::vector<int> frames;
    while (const auto frame = out.pop()) {
      frames.push_back(codepoint_of(*frame));
    }
    std::sort(frames.begin(), frames.end());
    return frames;
  }

  std::vector<PortConfig> ports_ = std::vector<PortConfig>(3);
  std::vector<PortBuffer> buffers_ = std::vector<PortBuffer>(3);
  EgressQueue queue_{QueueConfig{}};
};

TEST_F(LosslessClassTest, IsTheOnlyOneThatItsPriorityStops) {
  stop(0x08, start + 10ms);
  for (const auto codepoint : {roce, also_roce, same_selector, bulk}) {
    put(codepoint);
  }
  EXPECT_EQ(drain(start), (std::vector<int>{bulk, same_selector}));
  EXPECT_TRUE(queue_.stopped());
  EXPECT_EQ(queue_.deadline(), start + 10ms) << "all that waits is stopped";
  put(bulk);
  EXPECT_LE(queue_.deadline(), start);
  EXPECT_EQ(drain(start + 10ms), (std::vector<int>{bulk, roce, also_roce}));
  EXPECT_EQ(queue_.bytes(), 0u);
}

TEST_F(LosslessClassTest, IsStoppedByThePriorityOfTagsThatAreTrusted) {
  for (auto& port : ports_) {
    port.queue.classes[0].pcp = Priorities{0x08};
  }
  auto config = ports_[0].queue;
  config.rate_bps = 0;
  queue_.configure(config);
  queue_.guard(buffers_, 0, plan());
  for (const auto& [codepoint, priority] : {std::pair{bulk, 3}, {roce, 5}}) {
    auto packet = frame(codepoint);
    packet->ingress = guarded;
    packet->marking = marking_of_priority(static_cast<std::size_t>(priority));
    queue_.enqueue(std::move(packet), start);
  }
  EXPECT_EQ(buffers_[guarded].bytes(), 1000u) << "of what a neighbour can be asked to hold back";
  stop(0x08, start + 10ms);
  EXPECT_EQ(drain(start), std::vector<int>{roce}) << "its tag is of the other class";
  EXPECT_EQ(drain(start + 10ms), std::vector<int>{bulk});
}

TEST_F(LosslessClassTest, StopsWithAllOthersAtAPause) {
  stop(wire::all_classes, start + 10ms);
  put(roce);
  put(bulk);
  EXPECT_TRUE(drain(start).empty());
  EXPECT_EQ(queue_.deadline(), start + 10ms);
  EXPECT_EQ(drain(start + 10ms), (std::vector<int>{bulk, roce}));
}

TEST_F(LosslessClassTest, KeepsToItsRateWhenItIsNotStoppedAnyMore) {
  auto config = ports_[0].queue;
  config.rate_bps = 0;
  config.classes[0].rate_bps = 8'000'000;
  queue_.configure(config);
  stop(0x08, start + 1s);
  put(roce, 100);
  EXPECT_TRUE(drain(start).empty());
  EXPECT_LT(drain(start + 1s).size(), 50u) << "what was stopped did not keep the line busy";
}

TEST_F(LosslessClassTest, GoesOnByItsWeightWhenItIsNotStoppedAnyMore) {
  stop(0x08, start + 10ms);
  put(roce, 100);
  put(bulk, 100);
  PacketList out;
  queue_.dequeue(start, out, 20);
  out.clear();
  queue_.dequeue(start + 10ms, out, 20);
  std::map<int, int> frames;
  while (const auto frame = out.pop()) {
    ++frames[codepoint_of(*frame)];
  }
  EXPECT_NEAR(frames[roce], 10, 2);
  EXPECT_NEAR(frames[bulk], 10, 2);
}

TEST_F(LosslessClassTest, IsChargedToThePortsThatItCameBy) {
  put(roce, 2);
  put(also_roce);
  put(bulk, 5);
  EXPECT_EQ(buffers_[guarded].bytes(3), 3'000u);
  EXPECT_EQ(buffers_[guarded].bytes(), 3'000u);
  drain(start);
  EXPECT_EQ(buffers_[guarded].bytes(), 0u);
}

TEST_F(LosslessClassTest, HasRoomThatNobodyElseTakes) {
  put(bulk, 300);
  put(roce, 300, unguarded);
  const auto others = plan().others_bytes / 2;
  EXPECT_EQ(queue_.class_rows()[1].bytes, 200'000u);
  EXPECT_EQ(queue_.class_rows()[0].bytes, others / 1000 * 1000);
  const auto dropped = queue_.tail_dropped();
  const auto limits = plan().ports[guarded];
  put(roce, static_cast<int>((limits.class_xoff + limits.headroom) / 1000));
  EXPECT_EQ(queue_.tail_dropped(), dropped);
  put(roce, 300);
  EXPECT_EQ(queue_.class_rows()[0].bytes, 200'000u) << "who does not obey finds an end, too";
}

TEST_F(LosslessClassTest, IsDroppedWhenItWasStoppedForTooLong) {
  stop(0x08, start + 1h);
  put(roce, 3);
  put(bulk);
  queue_.watch(start);
  queue_.watch(start + pause_watchdog - 1ns);
  EXPECT_EQ(queue_.packets(), 4u);
  queue_.watch(start + pause_watchdog);
  EXPECT_EQ(queue_.pauses().dropped, 3u);
  EXPECT_EQ(queue_.class_rows()[0].counters.pause_dropped, 3u);
  EXPECT_EQ(queue_.class_rows()[1].counters.pause_dropped, 0u);
  EXPECT_EQ(queue_.packets(), 1u);
  EXPECT_EQ(queue_.bytes(), 1'000u);
  EXPECT_EQ(buffers_[guarded].bytes(), 0u);
}

// The priorities were not stopped at the same time, so they are never late together.
TEST_F(LosslessClassTest, LeavesTheOthersToAWatchdogOfTheirOwn) {
  stop(0x08, start + 1h);
  queue_.watch(start);
  stop(wire::all_classes, start + 1h);
  put(bulk);
  const auto began = start + 2s;
  queue_.watch(began);
  queue_.watch(start + pause_watchdog);
  EXPECT_EQ(queue_.packets(), 1u);
  queue_.watch(began + pause_watchdog);
  EXPECT_EQ(queue_.pauses().dropped, 1u);
  EXPECT_EQ(queue_.packets(), 0u);
}

TEST_F(LosslessClassTest, OutlivesAChangeOfTheClassesAndOfFlowControl) {
  put(roce, 2);
  put(bulk, 2);
  auto one_queue = ports_[0].queue;
  one_queue.classes.clear();
  queue_.configure(one_queue);
  EXPECT_EQ(queue_.packets(), 4u);
  queue_.guard(buffers_, 0, {});
  EXPECT_EQ(buffers_[guarded].bytes(), 0u);
  queue_.guard(buffers_, 0, plan());
  queue_.configure(ports_[0].queue);
  EXPECT_EQ(buffers_[guarded].bytes(3), 2'000u);
  EXPECT_EQ(queue_.packets(), 4u);
  EXPECT_EQ(queue_.bytes(), 4'000u);
}

}  // namespace
}  // namespace tributary::forwarding
