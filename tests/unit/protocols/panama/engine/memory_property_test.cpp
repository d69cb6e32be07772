// SPDX-License-Identifier: BSD-3-Clause
// Jobs come and go on two levels of switches: the memory must never be exceeded, and a worker that
// obeys the cap never loses a packet to it.
#include "network.h"

namespace tributary::panama {
namespace {

constexpr std::uint32_t granted_memory = 14;
constexpr std::uint16_t leaves = 2;
constexpr std::uint16_t hosts_per_leaf = 3;

struct Trees {
  std::vector<TreeConfig> leaf, root;
};

// Two trees of one job and one of two others each; all hosts are in all jobs.
Trees trees() {
  Trees all;
  for (const auto& [job, tree] :
       {std::pair<std::uint32_t, std::uint16_t>{7, 0}, {7, 1}, {8, 0}, {9, 0}}) {
    auto root = root_of(leaves, tree, job);
    root.workers = root.workers_below = root.quorum = leaves * hosts_per_leaf;
    all.root.push_back(root);
    auto leaf = root_of(hosts_per_leaf, tree, job);
    leaf.parent = parent_port;
    leaf.workers = leaf.quorum = root.workers;
    all.leaf.push_back(leaf);
  }
  return all;
}

void build(Network& network, bool with_rogue) {
  const auto all = trees();
  const auto root = network.add_switch(all.root);
  std::vector<std::vector<std::uint32_t>> epochs(all.leaf.size());
  for (auto& packets : epochs) {
    for (int i = 0; i < 4; ++i) {
      packets.push_back(1 + static_cast<std::uint32_t>(network.random() % 60));
    }
  }
  for (std::uint16_t l = 0; l < leaves; ++l) {
    const auto leaf = network.add_switch(all.leaf);
    network.join(leaf, parent_port, root, l);
    for (std::uint16_t h = 0; h < hosts_per_leaf; ++h) {
      for (std::size_t t = 0; t < all.leaf.size(); ++t) {
        Worker worker;
        worker.tree = all.leaf[t];
        worker.rank = static_cast<std::uint16_t>(l * hosts_per_leaf + h);
        worker.epochs = epochs[t];
        worker.obeys = !(with_rogue && worker.rank == 4 && worker.tree.job == 8);
        network.add_worker(std::move(worker), leaf, h);
      }
    }
  }
}

void check_memory(const Network& network) {
  for (const auto& node : network.switches) {
    std::uint64_t granted = 0;
    for (const auto& tree : node.engine->trees()) {
      ASSERT_LE(figure_of(tree, "held_packets"), figure_of(tree, "granted_packets"));
      granted += figure_of(tree, "granted_packets");
    }
    ASSERT_LE(granted, granted_memory);
    ASSERT_LE(node.harness->figure("packets_held_high_water"), granted_memory);
    ASSERT_LE(node.harness->figure("packets_kept"), node.engine->trees().size() * granted_memory);
  }
}

std::uint64_t over_cap(const Network& network, std::uint32_t except_job) {
  std::uint64_t count = 0;
  for (const auto& node : network.switches) {
    for (const auto& tree : node.engine->trees()) {
      count += tree.job == except_job ? 0 : figure_of(tree, "over_cap_total");
    }
  }
  return count;
}

class MemoryProperty : public ::testing::TestWithParam<std::uint32_t> {};

TEST_P(MemoryProperty, IsNeverExceededNorRefusedToWhoObeys) {
  Network network(GetParam(), granted_memory, GetParam() % 3 == 0 ? 0.02 : 0.0);
  build(network, false);
  EXPECT_TRUE(network.run([&] { check_memory(network); }));
  EXPECT_EQ(network.wrong, 0u);
  EXPECT_EQ(over_cap(network, 0), 0u);
}

TEST_P(MemoryProperty, WhoIgnoresTheCapLosesNobodyElsesPackets) {
  Network network(GetParam(), granted_memory, 0);
  build(network, true);
  EXPECT_TRUE(network.run([&] { check_memory(network); }));
  EXPECT_EQ(network.wrong, 0u);
  EXPECT_EQ(over_cap(network, 8), 0u);
  EXPECT_GT(over_cap(network, 0), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, MemoryProperty, ::testing::Range(1u, 25u));

}  // namespace
}  // namespace tributary::panama
