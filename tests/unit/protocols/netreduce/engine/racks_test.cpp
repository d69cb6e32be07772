// SPDX-License-Identifier: BSD-3-Clause
// Tests rings that span several racks (section 3.3): leaves and the switches above them, over links
// that lose, double, damage and reorder packets.
#include "network.h"
#include "protocols/netreduce/engine/drop_reasons.h"
#include "protocols/netreduce/engine/paths.h"

namespace tributary::netreduce {
namespace {

RingConfig leaf_of_four() {
  auto ring = ring_of(4);
  ring.local = {ring.members[0], ring.members[1]};
  ring.parent = wire::Ipv4Address(10, 9, 9, 9);
  return ring;
}

TEST(NetReducePaths, of_one_switch_all_lie_inside) {
  const Paths paths(ring_of(3));
  EXPECT_EQ(paths.of(2), Path::inside);
  EXPECT_EQ(paths.gathered(), 7u);
  EXPECT_EQ(paths.added(), 7u);
  EXPECT_EQ(paths.upwards(), 0u);
  EXPECT_EQ(ring_of(3).slots(), 2u * 2 * 4 * 3);
}

TEST(NetReducePaths, leaf_has_one_that_goes_up_and_one_that_comes_down) {
  const auto ring = leaf_of_four();
  const Paths paths(ring);
  EXPECT_EQ(paths.of(0), Path::inside);
  EXPECT_EQ(paths.of(1), Path::upwards);
  EXPECT_EQ(paths.of(2), Path::elsewhere);
  EXPECT_EQ(paths.of(3), Path::downwards);
  EXPECT_EQ(paths.gathered(), 3u);
  EXPECT_EQ(paths.added(), 3u);
  EXPECT_EQ(paths.upwards(), 2u);
  EXPECT_EQ(ring.slots(), 2u * 2 * 4 * 2);
}

// Ranks 0 and 2 are in one rack, 1 and 3 in the other: all packets leave their racks.
TEST(NetReducePaths, spine_adds_one_packet_of_each_rack) {
  auto ring = ring_of(4);
  ring.racks = {{ring.members[0], ring.members[2]}, {ring.members[1], ring.members[3]}};
  const Paths paths(ring);
  EXPECT_EQ(paths.gathered(), 15u);
  EXPECT_EQ(paths.added(), 3u);
  EXPECT_EQ(paths.upwards(), 0u);
}

TEST(NetReducePaths, packets_within_a_rack_do_not_come_to_the_spine) {
  auto ring = ring_of(4);
  ring.racks = {{ring.members[0], ring.members[1]}, {ring.members[2], ring.members[3]}};
  const Paths paths(ring);
  EXPECT_EQ(paths.of(0), Path::elsewhere);
  EXPECT_EQ(paths.gathered(), 10u);
}

class NetReduceLeaf : public NetReduceTest {
 protected:
  NetReduceLeaf() { engine_.reconfigure({{leaf_of_four()}}); }

  static test::GradientSpec spec_of(std::uint16_t rank) {
    auto spec = gradient(rank);
    spec.world = 4;
    return spec;
  }
  // The sum of some ranks, in that one's packet.
  PacketPtr sum_of_some(std::uint16_t rank, std::vector<unsigned> ranks) {
    return make(spec_of(rank), 1, 0x11, message_of(spec_of(rank), ranks));
  }
  void expect_some(const test::Sent& sent, std::uint16_t rank, std::vector<unsigned> ranks) {
    const auto wanted = sum_of_some(rank, std::move(ranks));
    ASSERT_EQ(wanted->length, sent.packet->length);
    EXPECT_EQ(std::memcmp(wanted->data(), sent.packet->data(), wanted->length), 0);
  }
  void introduce() {
    feed(make(spec_of(0), 0));
    feed(make(spec_of(1), 0));
    feed(make(spec_of(3), 0));
  }
};

TEST_F(NetReduceLeaf, sends_the_sum_of_the_rack_up_in_the_packet_that_leaves_it) {
  introduce();
  EXPECT_TRUE(feed(make(spec_of(0), 1)).empty());
  auto sent = feed(make(spec_of(1), 1));
  ASSERT_EQ(sent.size(), 1u);
  expect_some(sent[0], 1, {0, 1});
  EXPECT_EQ(sent[0].towards, wire::Ipv4Address(10, 9, 9, 9));
  // The other packet of the rack waits for the sum of all, which comes in a packet from above.
  sent = feed(sum_of_some(3, {0, 1, 2, 3}));
  ASSERT_EQ(sent.size(), 2u);
  expect_some(sent[0], 3, {0, 1, 2, 3});
  EXPECT_TRUE(sent[0].received);
  expect_some(sent[1], 0, {0, 1, 2, 3});
  EXPECT_FALSE(sent[1].received);
  EXPECT_EQ(sent[1].towards, std::nullopt);
  EXPECT_EQ(figure("packets_waiting"), 0u);
}

TEST_F(NetReduceLeaf, repeats_what_went_up_while_the_sum_of_all_is_not_there) {
  introduce();
  feed(make(spec_of(0), 1));
  feed(make(spec_of(1), 1));
  EXPECT_TRUE(feed(make(spec_of(0), 1)).empty());
  const auto sent = feed(make(spec_of(1), 1));
  ASSERT_EQ(sent.size(), 1u);
  expect_some(sent[0], 1, {0, 1});
  EXPECT_EQ(sent[0].towards, wire::Ipv4Address(10, 9, 9, 9));
  EXPECT_EQ(figure("packets_waiting"), 1u);
  EXPECT_EQ(figure("overwritten_total"), 1u);
}

// A restarted switch above may take any packet that comes up for the sum of the rack.
TEST_F(NetReduceLeaf, answers_everything_once_the_sum_of_all_is_there_and_up_what_went_up) {
  introduce();
  feed(make(spec_of(0), 1));
  feed(make(spec_of(1), 1));
  feed(sum_of_some(3, {0, 1, 2, 3}));
  for (const auto rank : std::initializer_list<std::uint16_t>{0, 3}) {
    const auto sent = feed(sum_of_some(rank, {rank}));
    ASSERT_EQ(sent.size(), 1u);
    expect_some(sent[0], rank, {0, 1, 2, 3});
  }
  const auto sent = feed(make(spec_of(1), 1));
  ASSERT_EQ(sent.size(), 1u);
  expect_some(sent[0], 1, {0, 1});
  EXPECT_EQ(sent[0].towards, wire::Ipv4Address(10, 9, 9, 9));
}

// The leaf has forgotten what it sent up.
TEST_F(NetReduceLeaf, sum_of_all_that_comes_first_does_not_go_up) {
  introduce();
  EXPECT_TRUE(feed(make(spec_of(1), 1)).empty());
  auto sent = feed(sum_of_some(3, {0, 1, 2, 3}));
  ASSERT_EQ(sent.size(), 1u);
  expect_some(sent[0], 3, {0, 1, 2, 3});
  sent = feed(sum_of_some(3, {0, 1, 2, 3}));
  ASSERT_EQ(sent.size(), 1u);
  expect_some(sent[0], 3, {0, 1, 2, 3});
  EXPECT_TRUE(feed(make(spec_of(1), 1)).empty());
  EXPECT_EQ(figure("packets_waiting"), 1u);
  const auto rows = engine_.stalled(now_ + std::chrono::seconds(1), 8);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].missing, (std::vector<std::uint16_t>{0}));
  // A rank of the rack that waits gets the sum, and its packets are accepted.
  sent = feed(make(spec_of(0), 1));
  ASSERT_EQ(sent.size(), 2u);
  expect_some(sent[0], 0, {0, 1, 2, 3});
  expect_some(sent[1], 1, {0, 1});
  EXPECT_EQ(sent[1].towards, wire::Ipv4Address(10, 9, 9, 9));
  EXPECT_EQ(figure("packets_waiting"), 0u);
}

TEST_F(NetReduceLeaf, makes_what_went_up_no_more_if_its_ranks_have_the_sum_of_all) {
  introduce();
  feed(sum_of_some(3, {0, 1, 2, 3}));
  EXPECT_EQ(figure("packets_waiting"), 0u);
  EXPECT_TRUE(engine_.stalled(now_ + std::chrono::seconds(1), 8).empty());
  EXPECT_TRUE(feed(make(spec_of(1), 1)).empty());
  EXPECT_TRUE(feed(make(spec_of(1), 1)).empty());
  EXPECT_EQ(figure("packets_waiting"), 1u);
}

TEST_F(NetReduceLeaf, stalled_names_who_is_missing_below_then_above) {
  introduce();
  feed(make(spec_of(0), 1));
  auto rows = engine_.stalled(now_ + std::chrono::seconds(1), 8);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].missing, (std::vector<std::uint16_t>{1}));
  feed(make(spec_of(1), 1));
  rows = engine_.stalled(now_ + std::chrono::seconds(1), 8);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].missing, (std::vector<std::uint16_t>{2, 3}));
}

// The spine could not notice that such a packet is not the sum of the rack.
TEST_F(NetReduceLeaf, drops_packets_whose_first_packet_was_lost) {
  introduce();
  auto next = spec_of(1);
  next.message = 1;
  EXPECT_TRUE(feed(make(next, 1)).empty());
  EXPECT_EQ(harness_.drops(drop::first_lost), 1u);
}

TEST_F(NetReduceLeaf, passes_packets_that_neither_come_from_below_nor_go_there) {
  const auto sent = feed(make(spec_of(2), 0));
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_TRUE(sent[0].received);
  EXPECT_EQ(figure("connections"), 0u);
}

struct Layout {
  const char* name;
  std::vector<std::size_t> leaves;   // by rank
  std::vector<std::size_t> parents;  // by switch
};

const Layout layouts[] = {
    {"two_leaves", {0, 0, 1, 1}, {2, 2}},
    {"three_racks", {0, 0, 1, 1, 2, 2}, {3, 3, 3}},
    {"unbalanced", {0, 1, 1, 1, 1, 2}, {3, 3, 3}},
    {"interleaved", {0, 1, 0, 1, 0}, {2, 2}},
    {"ranks_at_the_spine", {0, 0, 1, 2, 1}, {2, 2}},
    {"three_levels", {0, 0, 1, 2, 2, 3, 1}, {4, 4, 5, 5, 6, 6}},
};

class NetReduceRacks : public testing::TestWithParam<std::tuple<std::size_t, std::uint32_t>> {
 protected:
  static Scene scene() {
    const auto& layout = layouts[std::get<0>(GetParam())];
    Scene scene;
    scene.seed = std::get<1>(GetParam());
    scene.world = static_cast<std::uint16_t>(layout.leaves.size());
    scene.tree = SwitchTree(layout.leaves, layout.parents);
    return scene;
  }
};

TEST_P(NetReduceRacks, good_links_need_no_retransmission) {
  Network network(scene());
  EXPECT_TRUE(network.run(3000));
  EXPECT_EQ(network.wrong() + network.told(), 0u);
  EXPECT_EQ(network.retransmissions(), 0u);
  EXPECT_EQ(network.figure("passed_total"), 0u);
  EXPECT_EQ(network.figure("packets_waiting"), 0u);
  EXPECT_EQ(network.figure("answered_total"), 0u);
}

TEST_P(NetReduceRacks, bad_links_cost_time_only) {
  auto bad = scene();
  const auto seed = bad.seed;
  bad.is_v6 = seed % 3 == 0;
  bad.is_send = seed % 2 == 0;
  bad.weather = {5 + seed % 40, seed % 30, seed % 10, 1 + seed % 7};
  Network network(bad);
  EXPECT_TRUE(network.run(100000)) << "hangs";
  EXPECT_EQ(network.wrong(), 0u);
  EXPECT_EQ(network.told(), 0u);
  EXPECT_EQ(network.figure("abandoned_total"), 0u);
}

TEST_P(NetReduceRacks, restart_lets_nothing_pass_that_is_no_sum) {
  auto scene = NetReduceRacks::scene();
  scene.weather = {5, 5, 0, 3};
  scene.restart_step = 20 + scene.seed * 7;
  scene.restarted = scene.seed % scene.tree->size();
  Network network(scene);
  network.run(3000);
  EXPECT_EQ(network.wrong() + network.told(), 0u);
}

// Packets that are still on the way may bring a switch the sum of all before anything else.
TEST_P(NetReduceRacks, restart_of_all_lets_nothing_pass_that_is_no_sum) {
  auto scene = NetReduceRacks::scene();
  scene.weather = {5, 5, 0, 3};
  scene.restart_step = 20 + scene.seed * 7;
  scene.restarts_all = true;
  Network network(scene);
  network.run(3000);
  EXPECT_EQ(network.wrong() + network.told(), 0u);
}
INSTANTIATE_TEST_SUITE_P(Each, NetReduceRacks,
                         testing::Combine(testing::Range<std::size_t>(0, std::size(layouts)),
                                          testing::Range(1u, 21u)),
                         [](const auto& test) {
                           return std::string(layouts[std::get<0>(test.param)].name) + "_" +
                                  std::to_string(std::get<1>(test.param));
                         });

// As many packets cross from rack to rack as in a ring without sums.
TEST(NetReduceTraffic, racks_send_one_packet_up_and_get_one_down) {
  Scene scene;
  scene.world = 4;
  scene.tree = two_levels({0, 0, 1, 1});
  Network network(scene);
  ASSERT_TRUE(network.run(3000));
  for (std::size_t leaf = 0; leaf < 2; ++leaf) {
    EXPECT_EQ(network.figure_at(leaf, "partials_total"), network.figure_at(leaf, "sums_total"));
    EXPECT_EQ(network.figure_at(leaf, "totals_total"), network.figure_at(leaf, "sums_total"));
  }
  EXPECT_EQ(network.figure_at(2, "results_total"), 2 * network.figure_at(2, "sums_total"));
}

}  // namespace
}  // namespace tributary::netreduce
