// SPDX-License-Identifier: BSD-3-Clause
// Tests random fabrics, jobs and failures: every placement must be sound, and placing again must
// move nothing.
#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "fabrics.h"
#include "tree_check.h"

namespace tributary::controller {
namespace {

using Random = std::mt19937_64;

std::size_t draw(Random& random, std::size_t least, std::size_t most) {
  return std::uniform_int_distribution<std::size_t>(least, most)(random);
}

// Draws any switches with any links, also parallel ones, and fabrics in separate parts.
Topology any_fabric(Random& random) {
  Builder builder;
  const std::size_t count = draw(random, 1, 12);
  for (std::size_t i = 0; i < count; ++i) {
    builder.add_switch("s" + std::to_string(i), draw(random, 2, 12));
  }
  const std::size_t links = count > 1 ? draw(random, count, 3 * count) : 0;
  for (std::size_t i = 0; i < links; ++i) {
    const std::size_t a = draw(random, 0, count - 1);
    builder.add_link(a, (a + draw(random, 1, count - 1)) % count, "-" + std::to_string(i));
  }
  const std::size_t hosts = draw(random, 2, 24);
  for (std::size_t i = 0; i < hosts; ++i) {
    builder.add_host(draw(random, 0, count - 1));
  }
  return builder.topology;
}

Topology draw_fabric(Random& random) {
  switch (draw(random, 0, 2)) {
    case 0:
      return two_levels(draw(random, 1, 6), draw(random, 1, 4), draw(random, 1, 4));
    case 1:
      return three_levels(draw(random, 1, 4), draw(random, 1, 3));
    default:
      return any_fabric(random);
  }
}

std::vector<Job> draw_jobs(Random& random, const Topology& topology) {
  std::vector<Job> jobs;
  const std::size_t count = draw(random, 1, 4);
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::size_t> hosts(topology.hosts.size());
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      hosts[host] = host;
    }
    std::shuffle(hosts.begin(), hosts.end(), random);
    hosts.resize(draw(random, 1, hosts.size()));
    const auto quorum = static_cast<std::uint16_t>(draw(random, 1, hosts.size()));
    jobs.push_back(
        {static_cast<std::uint32_t>(10 + i), std::move(hosts), draw(random, 0, 5) % 4, quorum});
  }
  return jobs;
}

void fail_something(Random& random, Topology& topology) {
  for (auto& sw : topology.switches) {
    sw.unusable = draw(random, 0, 19) == 0 ? "gone" : "";
  }
  for (auto& link : topology.links) {
    link.unusable = draw(random, 0, 19) == 0 ? "down" : "";
  }
}

std::string text(const std::vector<PlacedJob>& jobs) {
  std::string text;
  for (const PlacedPart& each : installed(jobs)) {
    text += std::to_string(each.switch_index) + " " + std::to_string(each.part.job) + "/" +
            std::to_string(each.part.tree) + " " + std::to_string(each.part.group.value()) + " " +
            each.part.parent.value_or("-");
    for (const std::string& child : each.part.children) {
      text += " " + child;
    }
    text += "\n";
  }
  return text;
}

void expect_sound(const Topology& topology, const std::vector<Job>& jobs,
                  const std::vector<PlacedJob>& placed) {
  std::set<std::uint32_t> groups;
  std::vector<std::size_t> trees(topology.switches.size());
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ASSERT_EQ(placed[i].id, jobs[i].id);
    EXPECT_GE(placed[i].trees.size(), 1u);
    EXPECT_TRUE(jobs[i].trees == 0 || placed[i].trees.size() == jobs[i].trees);
    std::set<std::size_t> roots;
    for (const Tree& tree : placed[i].trees) {
      EXPECT_EQ(defect(topology, jobs[i], tree), "");
      EXPECT_TRUE(roots.insert(tree.root).second) << "a root twice";
      EXPECT_TRUE(groups.insert(tree.group.value()).second) << "a group twice";
      for (const PlacedPart& each : tree.parts) {
        ++trees[each.switch_index];
      }
    }
  }
  for (std::size_t sw = 0; sw < trees.size(); ++sw) {
    EXPECT_LE(trees[sw], topology.switches[sw].trees_max);
  }
}

TEST(RandomPlacement, trees_are_sound_and_stay) {
  std::size_t placements = 0;
  for (std::uint64_t seed = 1; seed <= 3000 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    auto topology = draw_fabric(random);
    const auto jobs = draw_jobs(random, topology);
    std::vector<PlacedPart> before;
    for (int round = 0; round < 3; ++round) {
      const auto placed = place(topology, jobs, before, test_groups);
      if (placed) {
        ++placements;
        expect_sound(topology, jobs, *placed);
        const auto again = place(topology, jobs, installed(*placed), test_groups);
        ASSERT_TRUE(again);
        EXPECT_EQ(text(*again), text(*placed)) << "it moved";
        before = installed(*placed);
      }
      fail_something(random, topology);
    }
  }
  EXPECT_GT(placements, 3000u);  // else the drawn fabrics have too many faults
}

}  // namespace
}  // namespace tributary::controller
