// SPDX-License-Identifier: BSD-3-Clause
// Somebody who can send by a member's port and in its name forges packets of its job. That may
// spoil this job, but costs the switch, and others, no more than so many packets of any kind.
#include "network.h"

namespace tributary::panama {
namespace {

// Makes packets of all kinds that pass the first checks, with any numbers in them. Most of these
// are near what there is.
class Forger {
 public:
  explicit Forger(std::uint32_t seed) : random_(seed) {}

  PacketPtr forge(PacketPool& pool, const TreeConfig& tree, PortIndex port, std::uint32_t epoch = 0,
                  std::uint32_t latest = 0) {
    auto spec = from(tree, port, latest + any(24));
    spec.kind = kinds[below(3)];
    spec.rank = static_cast<std::uint16_t>(below(tree.workers));
    spec.epoch = below(4) == 0 ? any(3) : epoch;
    spec.run = below(8) == 0 ? any(1) : 0;
    spec.fin = below(64) == 0;
    spec.retransmission = below(2) == 0;
    spec.answer = below(4) == 0;
    spec.contributions = static_cast<std::uint16_t>(below(4) == 0 ? 1 + below(tree.workers) : 1);
    spec.wnd_cap = static_cast<std::uint16_t>(1 + below(0xffff));
    spec.fingerprint = random_();
    if (spec.kind == wire::PanamaKind::result) {
      spec.contributions = tree.workers;
    }
    if (spec.kind == wire::PanamaKind::inquiry) {
      spec.contributions = 1;
      return test::make_panama(pool, spec, Ints{});
    }
    return test::make_panama(pool, spec, Ints{static_cast<std::int32_t>(below(1000))});
  }

 private:
  static constexpr wire::PanamaKind kinds[] = {wire::PanamaKind::aggregation,
                                               wire::PanamaKind::result, wire::PanamaKind::inquiry};

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_() % limit); }
  std::uint32_t any(std::uint32_t small) {
    return below(8) == 0 ? static_cast<std::uint32_t>(random_()) : below(small + 1);
  }

  std::mt19937 random_;
};

class Strangers : public PanamaTest, public ::testing::WithParamInterface<std::uint32_t> {};

// The others send one packet after the other, and the forged ones join them.
TEST_P(Strangers, HaveNoMoreSentThanAPacketForEachNeighbour) {
  constexpr std::uint16_t children = 4;
  constexpr std::uint32_t packet_memory = 16;
  constexpr std::size_t waiting_max =
      children * (packet_memory + initial_window) + 3 * std::size_t{packet_memory};
  Forger forger(GetParam());
  for (int life = 0; life < 60; ++life) {
    const auto tree = life % 2 == 0 ? root_of(children) : leaf_of(children, 8);
    start({tree}, packet_memory);
    round(tree, 0, true);  // a whole epoch, so that the next one may use all of the memory
    for (std::uint32_t i = 0; i < 400; ++i) {
      now += 1us;
      const auto latest = i / 10;
      for (PortIndex other = 1; i % 10 == 0 && other < children; ++other) {
        auto spec = from(tree, other, latest);
        spec.epoch = 1;
        feed(spec);
      }
      EXPECT_LE(feed(forger.forge(pool, tree, 0, 1, latest)).size(), children + 1u);
      EXPECT_LE(pool.outstanding(), waiting_max);
    }
    EXPECT_LE(harness->figure("packets_held_high_water"), packet_memory);
  }
}

// One tree's share of the memory is theirs, as it is of any job that is active.
TEST_P(Strangers, SlowOtherJobsDownLikeOneMoreJob) {
  constexpr std::uint32_t packet_memory = 64;
  constexpr std::uint16_t leaves = 2;
  constexpr std::uint16_t hosts = 3;
  const auto time_of = [&](bool with_stranger) {
    Network network(GetParam(), packet_memory, 0);
    std::vector<TreeConfig> at_root, at_leaf;
    for (const std::uint32_t job : {7u, 8u}) {
      at_root.push_back(root_of(leaves, 0, job));
      auto& root = at_root.back();
      root.workers = root.workers_below = root.quorum = leaves * hosts;
      at_leaf.push_back(root_of(hosts, 0, job));
      auto& leaf = at_leaf.back();
      leaf.parent = parent_port;
      leaf.workers = leaf.quorum = root.workers;
    }
    const auto root = network.add_switch(at_root);
    for (std::uint16_t l = 0; l < leaves; ++l) {
      const auto leaf = network.add_switch(at_leaf);
      network.join(leaf, parent_port, root, l);
      for (std::uint16_t h = 0; h < hosts; ++h) {
        Worker worker;
        worker.tree = at_leaf.front();
        worker.rank = static_cast<std::uint16_t>(l * hosts + h);
        worker.epochs = {400, 300, 400};
        network.add_worker(std::move(worker), leaf, h);
      }
    }
    Forger forger(GetParam());
    const auto began = network.now;
    auto next = began;
    EXPECT_TRUE(network.run([&] {
      for (; with_stranger && next <= network.now; next += 1us) {
        network.inject(1, 0, forger.forge(network.pool, at_leaf.back(), 0));
      }
    }));
    EXPECT_EQ(network.wrong, 0u);
    for (const auto& node : network.switches) {
      for (const auto& tree : node.engine->trees()) {
        EXPECT_TRUE(tree.job != 7 || figure_of(tree, "over_cap_total") == 0);
      }
    }
    return network.now - began;
  };
  const auto alone = time_of(false);
  const auto beside = time_of(true);
  EXPECT_LE(beside, 4 * alone);
}

INSTANTIATE_TEST_SUITE_P(Seeds, Strangers, ::testing::Range(1u, 5u));

}  // namespace
}  // namespace tributary::panama
