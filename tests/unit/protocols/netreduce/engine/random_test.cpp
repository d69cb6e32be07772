// SPDX-License-Identifier: BSD-3-Clause
// Tests Reliable Connections through the engine, over links that lose, double, damage and reorder
// packets: sums must be exact, and nothing may hang.
#include "network.h"

namespace tributary::netreduce {
namespace {

TEST(NetReduceNetwork, good_links_need_no_retransmission) {
  for (std::uint16_t world = 2; world <= 4; ++world) {
    Scene scene;
    scene.world = world;
    Network network(scene);
    EXPECT_TRUE(network.run(2000));
    EXPECT_EQ(network.wrong() + network.told(), 0u);
    EXPECT_EQ(network.retransmissions(), 0u);
    EXPECT_EQ(network.figure("passed_total"), 0u);
    EXPECT_EQ(network.figure("packets_waiting"), 0u);
  }
}

TEST(NetReduceNetwork, ipv6_is_no_different) {
  Scene scene;
  scene.is_v6 = true;
  scene.weather = {20, 20, 10, 4};
  Network network(scene);
  EXPECT_TRUE(network.run(20000));
  EXPECT_EQ(network.wrong() + network.told(), 0u);
  EXPECT_GE(network.figure("sums_total"), scene.messages);
}

TEST(NetReduceNetwork, late_rank_is_waited_for) {
  Scene scene;
  scene.late_step = 700;
  Network network(scene);
  EXPECT_TRUE(network.run(3000));
  EXPECT_EQ(network.wrong() + network.told(), 0u);
  EXPECT_GT(network.figure("overwritten_total"), 0u);
}

// The packet behind it provokes a NAK, also in the last message, behind which no sum shows the gap.
TEST(NetReduceNetwork, lost_first_packet_waits_for_no_timer) {
  for (std::uint32_t message = 1; message < 10; ++message) {
    Scene scene;
    scene.messages = message + 1;
    scene.seed = 1 + message;  // it then has more than one packet
    scene.lost_first = message;
    Network network(scene);
    EXPECT_TRUE(network.run(2000));
    EXPECT_EQ(network.wrong() + network.told(), 0u);
    EXPECT_GT(network.retransmissions(), 0u);
    EXPECT_EQ(network.timeouts(), 0u) << message;
  }
}

class NetReduceWeather : public testing::TestWithParam<std::uint32_t> {};

TEST_P(NetReduceWeather, bad_links_cost_time_only) {
  const auto seed = GetParam();
  Scene scene;
  scene.seed = seed;
  scene.world = static_cast<std::uint16_t>(2 + seed % 3);
  scene.is_send = seed % 2 == 0;
  scene.weather = {10 + seed % 60, seed % 40, seed % 20, 1 + seed % 7};
  Network network(scene);
  EXPECT_TRUE(network.run(60000)) << "hangs";
  EXPECT_EQ(network.wrong(), 0u);
  EXPECT_EQ(network.told(), 0u);
  EXPECT_EQ(network.figure("abandoned_total"), 0u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, NetReduceWeather, testing::Range(1u, 101u));

class NetReduceRestart : public testing::TestWithParam<std::uint32_t> {};

// A switch that has forgotten a run lets no packet of it pass unchanged. The run may get stuck, as
// a rank that has received a sum does not send again what others need for theirs.
TEST_P(NetReduceRestart, lets_nothing_pass_that_is_no_sum) {
  const auto seed = GetParam();
  Scene scene;
  scene.seed = seed;
  scene.messages = 60;
  scene.weather = {5, 5, 0, 3};
  scene.restart_step = 20 + seed * 3;
  Network network(scene);
  network.run(3000);
  EXPECT_EQ(network.wrong(), 0u);
  EXPECT_EQ(network.told(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Seeds, NetReduceRestart, testing::Range(1u, 31u));

}  // namespace
}  // namespace tributary::netreduce
