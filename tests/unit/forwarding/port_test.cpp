// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/port.h"

#include <gtest/gtest.h>

#include "support/frames.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;

const Time start = Time{} + 100s;
const test::Endpoints ends{test::mac(1), test::mac(2), test::Ip(10, 0, 0, 1),
                           test::Ip(10, 0, 0, 2)};

class PortTest : public testing::Test {
 protected:
  PacketPtr frame() { return test::make_udp(pool_, ends, 1, 2, 100); }
  // A frame as a kernel leaves it for hardware that is not there.
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
  EXPECT_EQ(ready.size(), 4u) << "passed on all the same";
  EXPECT_EQ(port.counters().rx_unfinished_checksums, 1u);
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
