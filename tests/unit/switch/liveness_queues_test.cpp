// SPDX-License-Identifier: BSD-3-Clause
// Neighbours are told over BFD of queues that fill up.
#include "protocols/canary/engine/config.h"
#include "protocols/flare/engine/config.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/panama/engine/config.h"
#include "support/canary_packets.h"
#include "unit/switch/two_ways.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t slow_line = 100'000'000;  // takes 42 ms to empty half of a usual queue

class LivenessQueuesTest : public TwoWaysTest {
 protected:
  LivenessQueuesTest() { bench.gauges[0].publish_rate(slow_line); }
};

TEST_F(LivenessQueuesTest, TheNeighbourHearsThatAQueueFillsUp) {
  neighbour.run(2s);
  auto& to_host = bench.gauges[0];
  const auto capacity = to_host.capacity();
  to_host.publish_bytes(capacity / 2);
  neighbour.run(20ms);
  to_host.publish_bytes(capacity / 2 + 1);
  neighbour.run(3ms);
  to_host.publish_bytes(capacity / 2);
  neighbour.run(1ms);
  to_host.publish_bytes(capacity / 2 + 1);
  neighbour.run(3ms);
  EXPECT_FALSE(neighbour.session.neighbour_crowded()) << "not four looks in a row";
  neighbour.run(3ms);
  EXPECT_TRUE(neighbour.session.neighbour_crowded());
  to_host.publish_bytes(capacity / 2);
  neighbour.run(3ms);
  EXPECT_FALSE(neighbour.session.neighbour_crowded());
  bench.gauges[2].publish_bytes(capacity);
  neighbour.run(200ms);
  EXPECT_FALSE(neighbour.session.neighbour_crowded()) << "there is another way";
}

TEST_F(LivenessQueuesTest, AQueueThatItsLineSoonEmptiesHasToStayFullForLonger) {
  auto& to_host = bench.gauges[0];
  to_host.publish_rate(10'000'000'000);
  to_host.publish_bytes(1);
  neighbour.run(2s);
  to_host.publish_bytes(to_host.capacity());
  neighbour.run(9ms);
  EXPECT_FALSE(neighbour.session.neighbour_crowded());
  neighbour.run(3ms);
  EXPECT_TRUE(neighbour.session.neighbour_crowded());
}

// How long a full queue would take to empty decides how many looks it takes: 1 MB at 800 Mbit/s is
// 10 ms.
TEST_F(LivenessQueuesTest, TenMillisecondsOfTheLineAreLong) {
  auto& to_host = bench.gauges[0];
  to_host.publish_rate(800'000'000);
  neighbour.run(2s);
  const auto told_after = [&](std::uint64_t waiting) {
    to_host.publish_bytes(1);
    neighbour.run(30ms);
    to_host.publish_bytes(waiting);
    Duration waited{};
    while (!neighbour.session.neighbour_crowded() && waited < 50ms) {
      neighbour.run(1ms);
      waited += 1ms;
    }
    return waited;
  };
  EXPECT_LE(told_after(1'000'000), 6ms);
  const auto below = told_after(999'999);
  EXPECT_GE(below, 10ms);
  EXPECT_LE(below, 12ms);
}

TEST_F(LivenessQueuesTest, ALongIntervalDoesNotHoldBackWhatQueuesTell) {
  SwitchBench slow(two_ways(forwarding::BfdConfig{1s, 3}));
  slow.gauges[0].publish_rate(slow_line);
  Neighbour peer(slow);
  peer.run(5s);
  slow.gauges[0].publish_bytes(slow.gauges[0].capacity());
  peer.run(20ms);
  EXPECT_TRUE(peer.session.neighbour_crowded());
  slow.gauges[0].publish_bytes(0);
  peer.run(3ms);
  EXPECT_FALSE(peer.session.neighbour_crowded());
}

TEST_F(LivenessQueuesTest, AQueueAroundTheThresholdCausesNoStorm) {
  neighbour.run(2s);
  const auto half = bench.gauges[0].capacity() / 2;
  const auto told_in_a_second = [&](Duration above) {
    const auto told_before = row().sent;
    for (const auto end = bench.now + 1s; bench.now < end;) {
      bench.gauges[0].publish_bytes(half + 1);
      neighbour.run(above);
      bench.gauges[0].publish_bytes(half);
      neighbour.run(1ms);
    }
    return row().sent - told_before;
  };
  const auto as_usual = told_in_a_second(3ms);
  EXPECT_GE(as_usual, 10u);
  EXPECT_LE(as_usual, 14u);
  const auto with_news = told_in_a_second(4ms);
  EXPECT_GE(with_news, 2 * 195u) << "that it is so, and that it is over";
  EXPECT_LE(with_news, 2 * 200u);
}

TEST_F(LivenessQueuesTest, EmptyQueuesAreSeldomLookedAt) {
  neighbour.run(2s);
  const auto looks_in = [&](std::uint64_t waiting) {
    bench.gauges[0].publish_bytes(waiting);
    int looks = 0;
    for (const auto end = bench.now + 100ms; bench.now < end; ++looks) {
      bench.advance(std::max<Duration>(bench.device().deadline() - bench.now, 1ns));
    }
    return looks;
  };
  EXPECT_LE(looks_in(0), 20);
  EXPECT_GE(looks_in(1), 90);
}

// Looks at empty queues come ten times in a short interval: news is not later for the pace of
// looks.
TEST_F(LivenessQueuesTest, AShortIntervalLooksMoreOftenAtEmptyQueues) {
  SwitchBench quick(two_ways(forwarding::BfdConfig{20ms, 3}));
  quick.gauges[0].publish_rate(slow_line);
  Neighbour peer(quick);
  peer.run(2s);
  for (auto idle = 50ms; idle < 60ms; idle += 1ms) {
    quick.gauges[0].publish_bytes(0);
    peer.run(idle);
    EXPECT_FALSE(peer.session.neighbour_crowded());
    quick.gauges[0].publish_bytes(quick.gauges[0].capacity());
    peer.run(8ms);
    EXPECT_TRUE(peer.session.neighbour_crowded()) << idle.count() << " ms after the last";
  }
}

constexpr std::uint8_t codepoint_of_sums = 32;

switching::SwitchConfig two_classes() {
  auto config = two_ways(usual);
  config.address = Ip(10, 9, 255, 1);
  config.arp.push_back({Ip(10, 1, 1, 9), mac(0)});
  config.classes = {{.name = "rest", .codepoints = {}},
                    {.name = "sums", .codepoints = {{codepoint_of_sums}}}};
  return config;
}

template <typename Config>
switching::SwitchConfig two_classes_with() {
  auto config = two_classes();
  config.protocols.emplace<Config>();
  return config;
}

// A switch with classes of traffic. Port 0 leads to the leader.
class Spine {
 public:
  static constexpr std::size_t rest = 0;
  static constexpr std::size_t sums = 1;

  explicit Spine(const switching::SwitchConfig& config) : bench_(config), peer_(bench_) {
    for (const auto traffic_class : {rest, sums}) {
      bench_.gauges[0].publish_capacity(1000, traffic_class);
      bench_.gauges[0].publish_rate(10'000, traffic_class);
    }
    peer_.run(2s);
  }

  void reduce(std::uint32_t block, std::uint8_t codepoint) {
    CanarySpec spec;
    spec.id = block;
    spec.hosts = 2;
    spec.rank = 1;
    spec.tos = static_cast<std::uint8_t>(codepoint << 2);
    spec.destination = Ip(10, 1, 1, 9);
    spec.child_address = there;
    spec.source_mac = their_mac;
    spec.destination_mac = our_mac;
    bench_.send(1, make_canary(bench_.pool, spec, std::vector<std::int32_t>{1}));
  }
  void fill(std::size_t traffic_class, std::uint64_t waiting) {
    bench_.gauges[0].publish_bytes(waiting, traffic_class);
  }
  void reload(const switching::SwitchConfig& config) { bench_.device().reconfigure(config); }
  // Says what its neighbour believes after a while.
  bool is_crowded() {
    peer_.run(20ms);
    return peer_.session.neighbour_crowded();
  }

 private:
  SwitchBench bench_;
  Neighbour peer_;
};

TEST(LivenessClasses, OnlyQueuesOfClassesByWhichReductionsGoAreToldOf) {
  Spine spine(two_classes_with<canary::CanaryConfig>());
  spine.fill(Spine::rest, 1000);
  EXPECT_FALSE(spine.is_crowded()) << "no reduction came";
  spine.reduce(1, codepoint_of_sums);
  EXPECT_FALSE(spine.is_crowded()) << "it goes by another class";
  spine.fill(Spine::sums, 501);
  EXPECT_TRUE(spine.is_crowded());
  spine.fill(Spine::sums, 0);
  EXPECT_FALSE(spine.is_crowded());
  spine.reduce(2, 0);
  EXPECT_TRUE(spine.is_crowded());
}

// It is a spine, say, under leaves with Canary.
TEST(LivenessClasses, WhereReductionsAreNotToldApartAnyClassMayBeTheirs) {
  for (const auto& config :
       {two_classes(), two_classes_with<netreduce::NetReduceConfig>(),
        two_classes_with<panama::PanamaConfig>(), two_classes_with<flare::FlareConfig>()}) {
    Spine spine(config);
    EXPECT_FALSE(spine.is_crowded());
    spine.fill(Spine::rest, 1000);
    EXPECT_TRUE(spine.is_crowded());
    spine.fill(Spine::rest, 0);
    spine.fill(Spine::sums, 1000);
    EXPECT_TRUE(spine.is_crowded());
  }
}

TEST(LivenessClasses, AReloadKeepsWhatWasLearnedAsLongAsItIsTrue) {
  auto config = two_classes_with<canary::CanaryConfig>();
  Spine spine(config);
  spine.reduce(1, codepoint_of_sums);
  spine.fill(Spine::sums, 1000);
  EXPECT_TRUE(spine.is_crowded());
  config.protocols.emplace<flare::FlareConfig>();
  config.ecmp_seed = 7;
  spine.reload(config);
  EXPECT_TRUE(spine.is_crowded()) << "reductions go by this class all the same";
  config.classes[Spine::sums].codepoints = {{8}};
  spine.reload(config);
  EXPECT_FALSE(spine.is_crowded()) << "nobody knows by which class they go now";
  config.protocols.reset<canary::CanaryConfig>();
  spine.reload(config);
  EXPECT_TRUE(spine.is_crowded()) << "nobody will know";
  config.protocols.emplace<canary::CanaryConfig>();
  spine.reload(config);
  EXPECT_FALSE(spine.is_crowded());
}

}  // namespace
}  // namespace tributary::test
