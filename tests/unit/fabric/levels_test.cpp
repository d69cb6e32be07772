// SPDX-License-Identifier: BSD-3-Clause
// Tests Canary in fat trees of three levels: leaves choose among spines, spines among cores.
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "control/loader.h"
#include "support/three_levels.h"
#include "support/virtual_fabric.h"
#include "unit/fabric/workers.h"

namespace tributary::test {
namespace {

using namespace std::chrono_literals;

// Counts frames that came to cores, by the core and its port. ARP comes by each port, too, so a few
// frames count as none.
class CoreLinks {
 public:
  explicit CoreLinks(VirtualFabric& fabric) {
    fabric.trace([this](const Hop& hop) {
      if (!hop.at_host && hop.switch_name.substr(0, 4) == "core") {
        ++frames_[std::string(hop.switch_name) + ":" + std::string(hop.port)];
      }
    });
  }

  std::size_t used() const {
    std::size_t count = 0;
    for (const auto& [link, frames] : frames_) {
      count += frames > few ? 1 : 0;
    }
    return count;
  }
  double mean(std::size_t links) const {
    std::uint64_t sum = 0;
    for (const auto& [link, frames] : frames_) {
      sum += frames;
    }
    return static_cast<double>(sum) / static_cast<double>(links);
  }
  void expect_within(double share, std::size_t links) const {
    EXPECT_EQ(frames_.size(), links);
    for (const auto& [link, frames] : frames_) {
      EXPECT_NEAR(static_cast<double>(frames), mean(links), share * mean(links)) << link;
    }
  }

 private:
  static constexpr std::uint64_t few = 4;
  std::map<std::string, std::uint64_t> frames_;
};

constexpr std::uint32_t hosts = 4;
constexpr std::uint32_t payload_bytes_of_a_block = 32;
constexpr std::size_t elements_of_a_block = payload_bytes_of_a_block / sizeof(std::int32_t);
constexpr std::size_t core_links = std::size_t{2} * 8 * 8;  // of two pods

ThreeLevels eight_by_eight() {
  ThreeLevels shape;
  shape.canary.timeout = 1ms;
  shape.canary.hash_seed = 42;
  return shape;
}

TEST(Levels, BlocksUseEveryLinkToTheCoresAlikeWhereEachLevelHasASeed) {
  constexpr std::size_t blocks = 400 * 64;
  auto shape = eight_by_eight();
  shape.leaf_seed = 1;
  shape.spine_seed = 2;
  VirtualFabric fabric(make_three_levels(shape));
  const CoreLinks links(fabric);
  Workers workers(fabric, {.world_size = hosts, .payload_bytes = payload_bytes_of_a_block});
  workers.begin(blocks * elements_of_a_block, 60s);
  fabric.run(60s);
  ASSERT_TRUE(workers.all_done());
  EXPECT_TRUE(workers.never_wrong());
  links.expect_within(0.2, core_links);
  expect_balanced(fabric);

  // All contributions to a block meet on the way, as switches of a level have the same seed; the
  // first blocks are an exception, as switches learn from them how many contributions come.
  std::uint64_t received = 0;
  for (std::uint32_t rank = 0; rank < hosts; ++rank) {
    received += workers.machine(rank).statistics().contributions_received;
  }
  EXPECT_LT(received, blocks + blocks / 100);
}

// Spines choose by the same bits by which leaves chose them.
TEST(Levels, WithOneSeedForAllASpineSendsEverythingToOneCore) {
  for (const std::uint64_t seed : {0u, 1u}) {
    auto shape = eight_by_eight();
    shape.leaf_seed = shape.spine_seed = seed;
    VirtualFabric fabric(make_three_levels(shape));
    const CoreLinks links(fabric);
    Workers workers(fabric, {.world_size = hosts, .payload_bytes = payload_bytes_of_a_block});
    workers.begin(std::size_t{64} * 20 * elements_of_a_block);
    fabric.run(20s);
    ASSERT_TRUE(workers.all_done());
    EXPECT_TRUE(workers.never_wrong());
    EXPECT_EQ(links.used(), core_links / 8) << "seed " << seed;
  }
}

TEST(Levels, TheSampleUsesEveryLinkToTheCores) {
  auto config = control::load_config(TRIBUTARY_SOURCE_DIR "/conf/fat-tree-3-level.toml");
  ASSERT_TRUE(config.has_value());
  FabricSpec spec;
  spec.switches = config->switches;
  for (std::uint8_t pod = 1; pod <= 4; ++pod) {
    for (std::uint8_t leaf = 1; leaf <= 2; ++leaf) {
      const auto name = "p" + std::to_string(pod) + "leaf" + std::to_string(leaf);
      spec.hosts.push_back(
          {name, "h1", wire::Ipv4Address(10, pod, leaf, 2), wire::Ipv4Address(10, pod, leaf, 1)});
      spec.hosts.push_back(
          {name, "h2", wire::Ipv4Address(10, pod, leaf, 6), wire::Ipv4Address(10, pod, leaf, 5)});
    }
  }
  VirtualFabric fabric(std::move(spec));
  const CoreLinks links(fabric);
  Workers workers(fabric, {.world_size = 16, .payload_bytes = 1408});
  workers.begin(300'007);
  fabric.run(20s);
  EXPECT_TRUE(workers.all_done());
  EXPECT_TRUE(workers.never_wrong());
  links.expect_within(0.5, 16);
  expect_balanced(fabric);
}

}  // namespace
}  // namespace tributary::test
