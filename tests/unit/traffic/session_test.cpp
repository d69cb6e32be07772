// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/session.h"

#include <gtest/gtest.h>

#include "support/traffic_bench.h"
#include "traffic/plain_traffic.h"

namespace tributary::traffic {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Ip;
using test::mac;

// A line that carries so many packets a second and has room for 100 more.
class SlowLine {
 public:
  SlowLine(double packets_per_second, const Time& now)
      : packet_(static_cast<Duration::rep>(1e9 / packets_per_second)), now_(now), free_(now) {}

  void operator()(std::size_t port, PacketPtr packet, Outbox& back) {
    free_ = std::max(free_, now_);
    if (free_ - now_ > 100 * packet_) {
      return;
    }
    free_ += packet_;
    back[port].push(std::move(packet));
  }

 private:
  Duration packet_;
  const Time& now_;
  Time free_;
};

TEST(Session, SearchesTheRateOfASlowLine) {
  test::Bench bench;
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  SessionPlan plan;
  plan.trial.duration = milliseconds(500);
  plan.trial.drain = milliseconds(10);
  plan.search = SearchPlan{0, {Rate::Unit::packets, 100e3}, 0.01};
  Session session(plan, bench.neighbours, traffic);
  bench.run(session, SlowLine(37e3, bench.now), microseconds(50), seconds(60));
  ASSERT_TRUE(session.done());
  const auto* best = session.search()->best();
  ASSERT_NE(best, nullptr);
  EXPECT_GE(best->packets_per_second(), 36e3);
  EXPECT_LE(best->packets_per_second(), 37.3e3);  // the room is worth 0.2 % in half a second
}

TEST(Session, AnnouncesHostsBeforeEachTrial) {
  test::Bench bench;
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  SessionPlan plan;
  plan.trial.duration = milliseconds(10);
  plan.trial.drain = milliseconds(1);
  plan.search = SearchPlan{0, {Rate::Unit::packets, 10e3}, 0.1};
  Session session(plan, bench.neighbours, traffic);
  std::size_t announced = 0;
  Time last_announced{};
  bool is_next = false;  // behind the announcements
  const auto lossy = [&](std::size_t port, PacketPtr packet, Outbox& back) {
    if (test::ethernet_of(*packet).type.value() == wire::ethertype::arp) {
      ++announced;
      last_announced = bench.now;
      is_next = true;
      return;
    }
    EXPECT_TRUE(!is_next || bench.now - last_announced >= milliseconds(500));
    is_next = false;
    if (session.trials().size() >= 2) {
      back[port].push(std::move(packet));
    }
  };
  bench.run(session, lossy, microseconds(50), seconds(60));
  ASSERT_TRUE(session.done());
  EXPECT_GT(session.trials().size(), 2u);
  EXPECT_EQ(announced, session.trials().size() * bench.stations.range(0).count);
}

TEST(Session, SaysThatNothingWasMeasured) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, 1, {}, Ip{10, 0, 0, 254}}});
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  Session session(SessionPlan{}, bench.neighbours, traffic);
  session.stop(bench.now);
  EXPECT_TRUE(session.done());
  EXPECT_TRUE(session.error());
}

TEST(Session, SaysWhichGatewayIsSilent) {
  test::Bench bench({{mac(1), Ip{10, 0, 0, 1}, 1, {}, Ip{10, 0, 0, 254}}});
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  Session session(SessionPlan{}, bench.neighbours, traffic);
  bench.run(
      session, [](std::size_t, PacketPtr, Outbox&) {}, milliseconds(10), seconds(10));
  EXPECT_TRUE(session.done());
  ASSERT_TRUE(session.error());
  EXPECT_NE(session.error()->find("10.0.0.254"), std::string::npos);
}

TEST(Session, StopsEarlyWithWhatThereIs) {
  test::Bench bench;
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  SessionPlan plan;
  plan.trial.rate = {Rate::Unit::packets, 1e4};
  plan.trial.duration = seconds(1000);
  Session session(plan, bench.neighbours, traffic);
  bench.run(session, test::Bench::loop, microseconds(100), seconds(1));
  EXPECT_FALSE(session.done());
  EXPECT_EQ(session.view(bench.now).phase, Trial::Phase::measure);
  session.stop(bench.now);
  bench.run(session, test::Bench::loop, microseconds(100), seconds(1));
  ASSERT_TRUE(session.done());
  ASSERT_EQ(session.trials().size(), 1u);
  EXPECT_TRUE(session.trials()[0].cut_short);
  EXPECT_NEAR(session.trials()[0].seconds, 1, 0.01);
  EXPECT_EQ(session.trials()[0].loss(), 0);
}

TEST(Session, AStopInTheWarmUpSaysThatNothingWasMeasured) {
  test::Bench bench;
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  SessionPlan plan;
  plan.trial.rate = {Rate::Unit::packets, 1e4};
  plan.trial.warm_up = seconds(10);
  Session session(plan, bench.neighbours, traffic);
  bench.run(session, test::Bench::loop, microseconds(100), seconds(1));
  ASSERT_EQ(session.view(bench.now).phase, Trial::Phase::warm_up);
  session.stop(bench.now);
  bench.run(session, test::Bench::loop, microseconds(100), seconds(1));
  ASSERT_TRUE(session.done());
  EXPECT_TRUE(session.error());
}

TEST(Session, AStopLeavesASearchWithoutARate) {
  test::Bench bench;
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  SessionPlan plan;
  plan.search.emplace().highest = {Rate::Unit::packets, 1e4};
  plan.trial.duration = seconds(1);
  Session session(plan, bench.neighbours, traffic);
  const auto nothing = [](std::size_t, PacketPtr, Outbox&) {};
  bench.run(session, nothing, microseconds(100), milliseconds(500));
  session.stop(bench.now);
  bench.run(session, nothing, microseconds(100), seconds(10));
  ASSERT_TRUE(session.done());
  EXPECT_TRUE(session.error());
}

TEST(Session, AStopEndsTheWaitForWhatIsLost) {
  test::Bench bench;
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  SessionPlan plan;
  plan.trial.rate = {Rate::Unit::packets, 1e4};
  plan.trial.duration = milliseconds(100);
  plan.trial.drain = seconds(1000);
  Session session(plan, bench.neighbours, traffic);
  const auto nothing = [](std::size_t, PacketPtr, Outbox&) {};
  bench.run(session, nothing, microseconds(100), seconds(1));
  ASSERT_EQ(session.view(bench.now).phase, Trial::Phase::drain);
  session.stop(bench.now);
  bench.run(session, nothing, microseconds(100), seconds(1));
  EXPECT_TRUE(session.done());
}

TEST(Session, WaitsNoLongerThanTheDrainForWhatIsLost) {
  test::Bench bench;
  PlainTraffic traffic({*FrameSizes::parse("64"), {{0, 0}}, 1}, bench.stations, bench.neighbours,
                       bench.pool);
  SessionPlan plan;
  plan.trial.rate = {Rate::Unit::packets, 1e4};
  plan.trial.duration = milliseconds(100);
  plan.trial.drain = milliseconds(300);
  Session session(plan, bench.neighbours, traffic);
  const Time start = bench.now;
  bench.run(
      session, [](std::size_t, PacketPtr, Outbox&) {}, microseconds(100), seconds(10));
  ASSERT_TRUE(session.done());
  EXPECT_LE(bench.now - start, milliseconds(410));
  EXPECT_EQ(session.trials()[0].loss(), 1);
}

}  // namespace
}  // namespace tributary::traffic
