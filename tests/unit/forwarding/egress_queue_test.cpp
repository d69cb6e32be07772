// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/egress_queue.h"

#include <gtest/gtest.h>

#include "support/frames6.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

class EgressQueueTest : public testing::Test {
 protected:
  PacketPtr frame(std::uint32_t bytes, std::uint8_t tos = wire::ecn::ect0) {
    const test::Endpoints ends{test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1),
                               test::Ip(10, 0, 0, 2)};
    auto packet = test::make_udp(pool_, ends, 1, 2, bytes - 14 - 20 - 8);
    test::ip_of(*packet).tos = tos;
    wire::finish_ipv4(test::ip_of(*packet));
    return packet;
  }
  std::size_t drain(EgressQueue& queue, Time now, std::size_t max = 1000) {
    PacketList out;
    queue.dequeue(now, out, max);
    return out.size();
  }
  ~EgressQueueTest() override { EXPECT_EQ(pool_.outstanding(), 0u); }

  HeapPacketPool pool_{4096, 1600};
};

TEST_F(EgressQueueTest, PassesThroughWithoutARate) {
  EgressQueue queue({});
  EXPECT_EQ(queue.deadline(), never);
  for (int i = 0; i < 10; ++i) {
    queue.enqueue(frame(1000), start);
  }
  EXPECT_LE(queue.deadline(), start);
  EXPECT_EQ(drain(queue, start, 4), 4u);
  EXPECT_EQ(drain(queue, start), 6u);
  EXPECT_EQ(queue.bytes(), 0u);
}

// 200 Mbit/s and frames of 1226 bytes, 1250 on the line: 50 us each, 20,000 per second.
TEST_F(EgressQueueTest, KeepsTheRateAndTellsExactlyWhen) {
  EgressQueue queue({200'000'000, 1 << 20, 0});
  std::size_t sent = 0;
  auto now = start;
  const auto end = start + 1s;
  while (now <= end) {
    while (queue.packets() < 40) {
      queue.enqueue(frame(1226), now);
    }
    sent += drain(queue, now);
    const auto due = queue.deadline();
    ASSERT_EQ(drain(queue, due - 1ns), 0u);
    ASSERT_GT(due, now);
    now = due;
  }
  // The allowance of a millisecond, and the frame that begins it.
  EXPECT_NEAR(static_cast<double>(sent), 20'000 + 20, 2);
  queue.clear();
}

TEST_F(EgressQueueTest, ReachesTheRateWhenServedEvery500Microseconds) {
  EgressQueue queue({200'000'000, 1 << 20, 0});
  std::size_t sent = 0;
  for (auto now = start; now < start + 1s; now += 500us) {
    while (queue.packets() < 60) {
      queue.enqueue(frame(1226), now);
    }
    sent += drain(queue, now);
  }
  EXPECT_GE(sent, 20'000u);
  EXPECT_LE(sent, 20'030u);
  queue.clear();
}

// A real line does not pause while the driver is late.
TEST_F(EgressQueueTest, LineStaysBusyWhileTheDriverIsLate) {
  EgressQueue queue({200'000'000, 1 << 20, 0});
  for (int i = 0; i < 400; ++i) {
    queue.enqueue(frame(1226), start);
  }
  drain(queue, start);
  EXPECT_NEAR(static_cast<double>(drain(queue, start + 10ms)), 200, 1);
  // Nothing was waiting in this gap, so the line has nothing to make up for.
  drain(queue, start + 1s);
  for (int i = 0; i < 400; ++i) {
    queue.enqueue(frame(1226), start + 2s);
  }
  EXPECT_NEAR(static_cast<double>(drain(queue, start + 2s)), 20, 1);
  queue.clear();
}

TEST_F(EgressQueueTest, CarriesTheRemainderOfTheDivision) {
  EgressQueue queue({7'777'777'777, 1 << 20, 0});  // 672 bits take 86.4 ns
  std::size_t sent = 0;
  for (auto now = start; now < start + 1ms; now += 100ns) {
    while (queue.packets() < 20) {
      queue.enqueue(frame(60), now);
    }
    sent += drain(queue, now, 20);
  }
  // With the first millisecond's allowance of 1e6 ns, the line carries twice its rate in one
  // millisecond.
  EXPECT_NEAR(static_cast<double>(sent), 2e6 / (672e9 / 7'777'777'777.0), 30);
  queue.clear();
}

TEST_F(EgressQueueTest, SlowRateStillLetsOneFrameGoAtATime) {
  EgressQueue queue({64'000, 1 << 20, 0});
  for (int i = 0; i < 5; ++i) {
    queue.enqueue(frame(1226), start);
  }
  EXPECT_GE(drain(queue, start), 1u);
  EXPECT_LE(drain(queue, start + 1ms), 2u);
  EXPECT_EQ(drain(queue, queue.deadline()), 1u);
  queue.clear();
}

TEST_F(EgressQueueTest, DropsTheTailBeyondItsCapacity) {
  EgressQueue queue({1'000'000, 2500, 0});
  for (int i = 0; i < 4; ++i) {
    queue.enqueue(frame(1000), start);
  }
  EXPECT_EQ(queue.packets(), 2u);
  EXPECT_EQ(queue.bytes(), 2000u);
  EXPECT_EQ(queue.tail_dropped(), 2u);
  queue.clear();
}

TEST_F(EgressQueueTest, MarksThoseThatFindMoreThanTheThreshold) {
  EgressQueue queue({200'000'000, 1 << 20, 3});
  for (int i = 0; i < 6; ++i) {
    queue.enqueue(frame(200), start);
  }
  queue.enqueue(frame(200, wire::ecn::not_ect), start);
  EXPECT_EQ(queue.ecn_marked(), 2u);
  PacketList out;
  queue.dequeue(start, out, 10);
  for (int i = 0; i < 7; ++i) {
    auto packet = out.pop();
    ASSERT_TRUE(packet);
    auto& ip = test::ip_of(*packet);
    EXPECT_EQ(ip.tos & wire::ecn::mask, i < 4   ? wire::ecn::ect0
                                        : i < 6 ? wire::ecn::ce
                                                : wire::ecn::not_ect);
    EXPECT_EQ(wire::internet_checksum(std::as_bytes(std::span(&ip, 1))), 0);
  }
}

TEST_F(EgressQueueTest, MarksBehindATag) {
  auto packet = test::tagged(frame(100), 10);
  EXPECT_TRUE(mark_congestion(*packet));
  test::take_tag(*packet);
  auto& ip = test::ip_of(*packet);
  EXPECT_EQ(ip.tos & wire::ecn::mask, wire::ecn::ce);
  EXPECT_EQ(wire::internet_checksum(std::as_bytes(std::span(&ip, 1))), 0);
}

TEST_F(EgressQueueTest, MarksIpv6ThatSaysThatItUnderstands) {
  const test::Endpoints6 ends{test::mac(1), test::mac(2), test::ip6(1, 1), test::ip6(1, 2)};
  for (const unsigned codepoint : {0u, 1u, 2u, 3u}) {
    auto packet = test::make_udp6(pool_, ends, 5, 6);
    auto& bits = test::ip6_of(*packet).version_class_flow;
    bits = {0x6b, static_cast<std::uint8_t>(0x8a | codepoint << 4), 1, 2};
    EXPECT_EQ(mark_congestion(*packet), codepoint != 0);
    const unsigned marked = codepoint != 0 ? 0xba : 0x8a;
    EXPECT_EQ(bits, (std::array<std::uint8_t, 4>{0x6b, static_cast<std::uint8_t>(marked), 1, 2}));
  }
}

TEST_F(EgressQueueTest, MarksNothingThatIsNotWholeIpv4) {
  auto packet = frame(100);
  packet->length = 20;
  EXPECT_FALSE(mark_congestion(*packet));
  packet->length = 5;
  EXPECT_FALSE(mark_congestion(*packet));
}

// A full queue must not look like a dead neighbour.
TEST_F(EgressQueueTest, OwnNetworkControlGoesFirstAndIsNeverDropped) {
  EgressQueue queue({200'000'000, 2000, 0});
  queue.enqueue(frame(1000), start);
  queue.enqueue(frame(1000), start);
  queue.enqueue(frame(66, 0xc0), start);
  EXPECT_EQ(queue.tail_dropped(), 0u);
  EXPECT_EQ(queue.bytes(), 2066u);
  PacketList out;
  queue.dequeue(start, out, 1);
  EXPECT_EQ(out.front()->length, 66u);
}

TEST_F(EgressQueueTest, OwnNetworkControlGoesFirstWithATagToo) {
  EgressQueue queue({200'000'000, 2000, 0});
  queue.enqueue(frame(1000), start);
  queue.enqueue(test::tagged(frame(66, 0xc0), 10), start);
  PacketList out;
  queue.dequeue(start, out, 1);
  EXPECT_EQ(out.front()->length, 70u);
  queue.clear();
}

TEST_F(EgressQueueTest, OwnNetworkControlOfIpv6GoesFirstToo) {
  const test::Endpoints6 ends{test::mac(1), test::mac(2), test::ip6(1, 1), test::ip6(1, 2)};
  EgressQueue queue({200'000'000, 2000, 0});
  queue.enqueue(frame(1000), start);
  queue.enqueue(frame(1000), start);
  auto control = test::make_udp6(pool_, ends, 1, 2, 24);
  test::ip6_of(*control).version_class_flow = {0x6c, 0, 0, 0};
  queue.enqueue(std::move(control), start);
  EXPECT_EQ(queue.tail_dropped(), 0u);
  PacketList out;
  queue.dequeue(start, out, 1);
  EXPECT_EQ(out.front()->length, 86u);
}

// Sums of PANAMA are made by the switch and are small, but wait like any other traffic.
TEST_F(EgressQueueTest, ClassSelectorSevenQueues) {
  EgressQueue queue({200'000'000, 1500, 0});
  queue.enqueue(frame(1400), start);
  queue.enqueue(frame(66, 56 << 2), start);
  queue.enqueue(frame(66, 56 << 2), start);
  EXPECT_EQ(queue.tail_dropped(), 1u);
  PacketList out;
  queue.dequeue(start, out, 1);
  EXPECT_EQ(out.front()->length, 1400u);
  queue.clear();
}

TEST_F(EgressQueueTest, UrgentFramesKeepTheirOrder) {
  for (const auto& config : {QueueConfig{}, QueueConfig{200'000'000, 2000, 0}}) {
    EgressQueue queue(config);
    queue.enqueue(frame(1000), start);
    for (const std::uint32_t bytes : {66, 67, 68}) {
      queue.enqueue(frame(bytes, 0xc0), start);
    }
    PacketList out;
    for (const std::uint32_t bytes : {66, 67, 68, 1000}) {
      queue.dequeue(start, out, 1);
      ASSERT_EQ(out.size(), 1u);
      EXPECT_EQ(out.pop()->length, bytes);
    }
  }
}

// A frame that is taken out counts with as many bytes as when it was put in.
TEST_F(EgressQueueTest, AnUrgentFrameCountsWithTheBodyThatItShares) {
  EgressQueue queue({200'000'000, 2000, 0});
  auto& body = *pool_.allocate().release();
  body.length = 500;
  pool_.share(body, 1);
  auto urgent = pool_.allocate_in_front_of(body, frame(66, 0xc0)->bytes());
  urgent->ingress = no_port;
  queue.enqueue(std::move(urgent), start);
  EXPECT_EQ(queue.bytes(), 566u);
  drain(queue, start);
  EXPECT_EQ(queue.bytes(), 0u);
}

TEST_F(EgressQueueTest, TheClaimsOfOthersAreNotBelieved) {
  EgressQueue queue({200'000'000, 2000, 0});
  queue.enqueue(frame(1000), start);
  auto pretender = frame(66, 0xc0);
  pretender->ingress = 1;
  queue.enqueue(std::move(pretender), start);
  queue.enqueue(frame(100, 0xb8), start);
  PacketList out;
  queue.dequeue(start, out, 1);
  EXPECT_EQ(out.front()->length, 1000u);
}

}  // namespace
}  // namespace tributary::forwarding
