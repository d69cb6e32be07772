// SPDX-License-Identifier: BSD-3-Clause
#include "control/runtime_seeds.h"

#include <gtest/gtest.h>

namespace tributary::control {
namespace {

DaemonConfig leaf_and_spine(std::uint64_t leaf_seed) {
  DaemonConfig config;
  for (const char* name : {"leaf", "spine"}) {
    config.switches.emplace_back().config.name = name;
  }
  config.switches[0].config.selection.reduction_seed = leaf_seed;
  return config;
}

std::uint64_t seed_in(const DaemonConfig& config, std::size_t sw) {
  return config.switches[sw].config.selection.reduction_seed;
}

TEST(RuntimeSeeds, fill_in_what_the_file_leaves_open) {
  auto config = leaf_and_spine(4);
  add_seeds(config, {{"leaf", 1}, {"spine", 2}, {"gone", 3}});
  EXPECT_EQ(seed_in(config, 0), 4u);
  EXPECT_EQ(seed_in(config, 1), 2u);
}

TEST(RuntimeSeeds, that_are_taken_back_leave_what_the_file_says) {
  const auto given = leaf_and_spine(4);
  auto current = with_seeds(given, given, {{"leaf", 1}, {"spine", 2}});
  EXPECT_EQ(seed_in(current, 1), 2u);
  current = with_seeds(current, given, {});
  EXPECT_EQ(seed_in(current, 0), 4u);
  EXPECT_EQ(seed_in(current, 1), 0u);
}

}  // namespace
}  // namespace tributary::control
