// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/plain_traffic.h"

#include <set>

#include <gtest/gtest.h>

#include "engine/frame.h"
#include "support/frames6.h"
#include "support/traffic_bench.h"
#include "wire/checksum.h"

namespace tributary::traffic {
namespace {

using test::Ip;
using test::mac;

PlainPlan plan_of(const char* size, std::uint32_t flows = 1) {
  return {*FrameSizes::parse(size), {{0, 0}}, flows};
}

std::vector<PacketPtr> sent_by(PlainTraffic& traffic, test::Bench& bench, std::size_t count) {
  Pacer pacer;
  pacer.start({}, bench.now);
  traffic.send(count, bench.now, pacer, bench.out);
  std::vector<PacketPtr> packets;
  while (auto packet = bench.out[0].pop()) {
    packets.push_back(std::move(packet));
  }
  return packets;
}

TEST(PlainTraffic, SendsValidUdp) {
  test::Bench bench;
  PlainTraffic traffic(plan_of("imix", 100), bench.stations, bench.neighbours, bench.pool);
  for (const auto& packet : sent_by(traffic, bench, 100)) {
    const auto frame = engine::parse_frame(*packet);
    ASSERT_NE(frame.udp, nullptr);
    EXPECT_EQ(frame.ipv4->total_length.value(), packet->length - sizeof(wire::EthernetHeader));
    const wire::Bytes header(reinterpret_cast<const std::byte*>(frame.ipv4), 20);
    EXPECT_EQ(wire::internet_checksum(header), 0);
  }
}

TEST(PlainTraffic, SendsValidUdpOverIpv6) {
  test::Bench bench(test::over_ipv6({{mac(1), Ip{10, 0, 0, 1}, 3, mac(99), {}}}));
  const auto smallest = PlainTraffic::smallest(true);
  PlainTraffic traffic({*FrameSizes::parse("imix", smallest), {{0, 0}}, 7}, bench.stations,
                       bench.neighbours, bench.pool);
  std::set<std::pair<wire::IpAddress, std::uint16_t>> tuples;
  for (const auto& packet : sent_by(traffic, bench, 24)) {
    const auto& ip = test::ip6_of(*packet);
    EXPECT_EQ(test::ethernet_of(*packet).type.value(), wire::ethertype::ipv6);
    EXPECT_EQ(test::ethernet_of(*packet).destination, mac(99));
    EXPECT_EQ(ip.payload_length.value(), packet->length - 54);
    const auto& udp = test::l4_header6<wire::UdpHeader>(*packet);
    EXPECT_EQ(udp.length.value(), packet->length - 54);
    EXPECT_NE(udp.checksum.value(), 0);
    EXPECT_EQ(wire::transport_checksum(ip, test::payload6_of(*packet)), 0);
    tuples.insert({wire::IpAddress(ip.source), udp.source_port.value()});
  }
  EXPECT_EQ(tuples.size(), 7u);
  EXPECT_EQ(tuples.begin()->first, test::embedding.embed(Ip{10, 0, 0, 1}));
}

// As many as there are in the cycle of sizes share a divisor with it.
TEST(PlainTraffic, EachPathHasTheWholeMixOfSizes) {
  test::Bench bench(test::behind_bridge(2));
  PlainTraffic traffic({*FrameSizes::parse("imix"), {{0, 1}, {1, 0}}, 1}, bench.stations,
                       bench.neighbours, bench.pool);
  Pacer pacer;
  pacer.start({}, bench.now);
  traffic.send(24, bench.now, pacer, bench.out);
  for (auto& sent : bench.out) {
    std::multiset<std::uint32_t> sizes;
    while (const auto packet = sent.pop()) {
      sizes.insert(packet->length + FrameSizes::check_bytes);
    }
    EXPECT_EQ(sizes.count(64), 7u);
    EXPECT_EQ(sizes.count(570), 4u);
    EXPECT_EQ(sizes.count(1518), 1u);
  }
}

TEST(PlainTraffic, FlowsAreDifferentTuples) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, 10, {}, {}}});
  PlainTraffic traffic(plan_of("64", 250), bench.stations, bench.neighbours, bench.pool);
  std::set<std::pair<std::uint32_t, std::uint16_t>> tuples;
  for (const auto& packet : sent_by(traffic, bench, 500)) {
    const auto frame = engine::parse_frame(*packet);
    tuples.insert({frame.ipv4->source.value(), frame.udp->source_port.value()});
  }
  EXPECT_EQ(tuples.size(), 250u);
}

TEST(PlainTraffic, FramesGoToTheGatewayIfThereIsOne) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, 1, mac(99), {}}});
  PlainTraffic traffic(plan_of("64"), bench.stations, bench.neighbours, bench.pool);
  EXPECT_EQ(test::ethernet_of(*sent_by(traffic, bench, 1)[0]).destination, mac(99));
}

class PlainSession : public ::testing::Test {
 protected:
  TrialResult run(const Rate& rate, const test::Bench::Network& network,
                  std::uint64_t packets = 0) {
    SessionPlan plan;
    plan.trial = {rate, std::chrono::milliseconds(10), std::chrono::milliseconds(100), packets,
                  std::chrono::milliseconds(50)};
    Session session(plan, bench.neighbours, traffic);
    bench.run(session, network, std::chrono::microseconds(10), std::chrono::seconds(1));
    EXPECT_TRUE(session.done());
    EXPECT_FALSE(session.error());
    EXPECT_EQ(session.trials().size(), 1u);
    return session.trials().at(0);
  }

  test::Bench bench;
  PlainTraffic traffic{plan_of("64", 5), bench.stations, bench.neighbours, bench.pool};
};

TEST_F(PlainSession, WithoutLossEverythingIsDone) {
  const auto result = run({Rate::Unit::packets, 1e6}, test::Bench::loop);
  EXPECT_NEAR(result.packets_per_second(), 1e6, 1e3);
  EXPECT_EQ(result.counters.begun, result.counters.done);
  EXPECT_EQ(result.loss(), 0);
  EXPECT_GE(result.reached(), 0.99);
  EXPECT_EQ(result.latency.count(), result.counters.done);
  EXPECT_EQ(result.latency.percentile(50), 10'000u);  // one round
  EXPECT_EQ(result.counters.late, 0u);                // of the warm-up
  EXPECT_EQ(result.figures[0].value, 0u);
}

TEST(PlainSession6, WithoutLossEverythingIsDone) {
  test::Bench bench(test::over_ipv6(test::behind_bridge(2)));
  PlainTraffic traffic({*FrameSizes::parse("82"), {{0, 1}, {1, 0}}, 5}, bench.stations,
                       bench.neighbours, bench.pool);
  test::SwitchNetwork network(test::bridge(2), bench.pool, bench.now);
  SessionPlan plan;
  plan.trial = {{Rate::Unit::packets, 1e5}, {}, std::chrono::milliseconds(20)};
  Session session(plan, bench.neighbours, traffic);
  bench.run(session, test::ipv6_only(std::ref(network)), std::chrono::microseconds(10),
            std::chrono::seconds(10));
  ASSERT_TRUE(session.done());
  const auto& result = session.trials().at(0);
  EXPECT_GT(result.counters.begun, 1000u);
  EXPECT_EQ(result.counters.begun, result.counters.done);
  EXPECT_EQ(result.counters.foreign, 0u);
}

TEST_F(PlainSession, DoesNotCountTheWarmUp) {
  PacketList line;
  const auto result =
      run({Rate::Unit::packets, 1e5}, [&](std::size_t port, PacketPtr packet, Outbox& back) {
        line.push(std::move(packet));
        if (line.size() > 50) {
          back[port].push(line.pop());
        }
      });
  EXPECT_GE(result.counters.late, 49u);
  EXPECT_NEAR(static_cast<double>(result.lost()), 50, 1);  // are still on the line
}

TEST_F(PlainSession, CountsEveryLoss) {
  std::uint64_t seen = 0;
  const auto result =
      run({Rate::Unit::packets, 1e5}, [&](std::size_t port, PacketPtr packet, Outbox& back) {
        if (seen++ % 10 != 0) {
          back[port].push(std::move(packet));
        }
      });
  EXPECT_NEAR(result.loss(), 0.1, 0.002);
}

// Otherwise doubled frames would hide lost ones.
TEST_F(PlainSession, CountsADoubledFrameOnce) {
  std::uint64_t seen = 0;
  const auto result =
      run({Rate::Unit::packets, 1e5}, [&](std::size_t port, PacketPtr packet, Outbox& back) {
        ++seen;
        if (seen % 10 == 0) {
          return;
        }
        if (seen % 10 == 5) {
          back[port].push(bench.pool.clone(*packet));
        }
        back[port].push(std::move(packet));
      });
  EXPECT_NEAR(result.loss(), 0.1, 0.002);
  EXPECT_EQ(result.latency.count(), result.counters.done);
  EXPECT_EQ(result.figures[0].value, 0u);
  EXPECT_NEAR(static_cast<double>(result.figures[1].value), 1000, 5);
}

// Such frames come from the replay of a file, or from an earlier process.
TEST_F(PlainSession, AFrameThatItHasNotSentIsLate) {
  PacketList recorded;
  run(
      {Rate::Unit::packets, 1e5},
      [&](std::size_t, PacketPtr packet, Outbox&) { recorded.push(std::move(packet)); }, 300);
  PlainTraffic other(plan_of("64"), bench.stations, bench.neighbours, bench.pool);
  other.begin_epoch();
  other.begin_epoch();
  other.receive(std::move(recorded), 0, bench.now, bench.out);
  EXPECT_EQ(other.counters().done, 0u);
  EXPECT_GE(other.counters().late, 300u);
}

TEST_F(PlainSession, EndsAfterSoManyPackets) {
  EXPECT_EQ(run({Rate::Unit::packets, 1e5}, test::Bench::loop, 321).counters.done, 321u);
}

TEST_F(PlainSession, NoticesReordering) {
  PacketPtr held;
  std::uint64_t seen = 0;
  const auto result =
      run({Rate::Unit::packets, 1e5}, [&](std::size_t port, PacketPtr packet, Outbox& back) {
        if (++seen % 100 == 0) {
          held = std::move(packet);
          return;
        }
        back[port].push(std::move(packet));
        if (held) {
          back[port].push(std::move(held));
        }
      });
  EXPECT_EQ(result.loss(), 0);
  EXPECT_NEAR(static_cast<double>(result.figures[0].value), 100, 2);
}

TEST_F(PlainSession, DoesNotCountWhatIsNotItsOwn) {
  const auto result =
      run({Rate::Unit::packets, 1e5}, [&](std::size_t port, PacketPtr packet, Outbox& back) {
        back[port].push(
            test::make_udp(bench.pool, {mac(1), mac(2), Ip{1, 1, 1, 1}, Ip{2, 2, 2, 2}}, 5, 9));
        back[port].push(std::move(packet));
      });
  EXPECT_EQ(result.loss(), 0);
  EXPECT_GE(result.counters.foreign, result.counters.done);
}

}  // namespace
}  // namespace tributary::traffic
