// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/flare/engine/config.h"

#include <string>

#include "fixture.h"

namespace tributary::flare {
namespace {

// Returns the setting at fault of the last of these trees, or an empty text.
std::string fault_of(std::vector<TreeConfig> trees, std::uint32_t working_memory = 8192) {
  const FlareConfig config{working_memory, std::move(trees)};
  const auto fault = find_fault(config, config.trees.size() - 1);
  return fault ? std::string(fault->setting) : std::string();
}

TEST(FlareConfigFault, NoneIsInASoundTree) {
  EXPECT_EQ(fault_of({root_of(2)}), "");
  EXPECT_EQ(fault_of({root_of(2), reproducible(root_of(4, 8))}), "");
}

TEST(FlareConfigFault, APlaceIsChecked) {
  EXPECT_EQ(fault_of({root_of(2, 0)}), "job");
  auto tree = root_of(2);
  tree.workers_below = 1;
  EXPECT_EQ(fault_of({tree}), "workers_below");
}

TEST(FlareConfigFault, TheWindowHasLimits) {
  auto tree = root_of(2);
  tree.window = 0;
  EXPECT_EQ(fault_of({tree}), "window");
  tree.window = wire::flare_window_max;
  EXPECT_EQ(fault_of({tree}, 1'000'000), "");
  ++tree.window;
  EXPECT_EQ(fault_of({tree}, 1'000'000), "window");
}

TEST(FlareConfigFault, ASparseWindowIsForTreesThatNeedNotBeReproducible) {
  auto tree = root_of(2);
  tree.sparse_window = wire::flare_window_max;
  EXPECT_EQ(fault_of({tree}, 1'000'000), "");
  ++tree.sparse_window;
  EXPECT_EQ(fault_of({tree}, 10'000'000), "sparse_window");
  tree = reproducible(root_of(2));
  tree.sparse_window = 1;
  EXPECT_EQ(fault_of({tree}), "sparse_window");
}

TEST(FlareConfigFault, SparseBlocksNeedMemoryBesideTheOthers) {
  auto tree = root_of(2);
  const auto dense = buffers_of(tree);
  tree.sparse_window = 5;
  EXPECT_EQ(buffers_of(tree), dense + 16 * 112);
  const auto needed = static_cast<std::uint32_t>(buffers_of(tree));
  EXPECT_EQ(fault_of({tree}, needed), "");
  EXPECT_EQ(fault_of({tree}, needed - 1), "window");
}

TEST(FlareConfigFault, JobsAndGroupsDiffer) {
  EXPECT_EQ(fault_of({root_of(2), root_of(3)}), "job");
  auto other = root_of(2, 8);
  other.group = root_of(2).group;
  EXPECT_EQ(fault_of({root_of(2), other}), "group");
}

TEST(FlareConfigFault, TheMemoryHasRoomForAllTreesOrTheLastIsRefused) {
  const auto a = root_of(2, 7);
  const auto b = reproducible(root_of(3, 8));
  EXPECT_EQ(buffers_of(b), 3 * buffers_of(a)) << "a buffer for each child";
  const auto needed = static_cast<std::uint32_t>(buffers_of(a) + buffers_of(b));
  EXPECT_EQ(fault_of({a, b}, needed), "");
  EXPECT_EQ(fault_of({a, b}, needed - 1), "window");
  EXPECT_EQ(fault_of({a}, needed - 1), "");
}

}  // namespace
}  // namespace tributary::flare
