// SPDX-License-Identifier: BSD-3-Clause
#include "engine/tree_table.h"

#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::engine {
namespace {

struct NumberedTree {
  // The configuration of a tree: a number, and a part that may change.
  struct Config {
    std::uint64_t number;
    int setting = 0;

    friend bool operator==(const Config&, const Config&) = default;
  };
  Config its;

  const Config& config() const { return its; }
  std::uint64_t key() const { return its.number; }
};

class TreeTableTest : public ::testing::Test {
 protected:
  void add(const NumberedTree::Config& config) {
    table_.add(std::make_unique<NumberedTree>(NumberedTree{config}));
  }

  TreeTable<NumberedTree> table_;
};

TEST_F(TreeTableTest, TreesAreFoundByTheirKeys) {
  EXPECT_EQ(table_.find(7), nullptr);
  for (std::uint64_t number = 1; number <= 32; ++number) {
    add({number});
  }
  for (const auto& tree : table_.all()) {
    EXPECT_EQ(table_.find(tree->key()), tree.get());
  }
  EXPECT_EQ(table_.find(33), nullptr);
}

TEST_F(TreeTableTest, WhatIsRemovedIsNotFoundAndTheOthersAre) {
  for (std::uint64_t number = 0; number < 16; ++number) {
    add({number});
  }
  table_.remove_if([](const NumberedTree& tree) { return tree.its.number % 2 == 0; });
  ASSERT_EQ(table_.all().size(), 8u);
  for (std::uint64_t number = 0; number < 16; ++number) {
    const auto* found = table_.find(number);
    EXPECT_EQ(found != nullptr, number % 2 == 1) << number;
    EXPECT_TRUE(found == nullptr || found->its.number == number);
  }
  add({0});
  EXPECT_EQ(table_.find(0), table_.all().back().get());
}

TEST_F(TreeTableTest, BecomesWhatIsWantedAndKeepsWhatHasNotChanged) {
  for (std::uint64_t number = 1; number <= 3; ++number) {
    add({number});
  }
  const auto* const kept = table_.find(1);
  std::vector<std::uint64_t> installed;
  std::vector<std::uint64_t> removed;
  table_.become(
      std::vector<NumberedTree::Config>{{1}, {2, 5}, {4}},
      [&](const NumberedTree::Config& config) {
        installed.push_back(config.number);
        add(config);
      },
      [&](const NumberedTree& tree) { removed.push_back(tree.key()); });
  EXPECT_EQ(table_.find(1), kept);
  EXPECT_EQ(table_.find(2)->its.setting, 5) << "what has changed begins anew";
  EXPECT_EQ(installed, (std::vector<std::uint64_t>{2, 4}));
  EXPECT_EQ(removed, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(table_.find(3), nullptr);
}

}  // namespace
}  // namespace tributary::engine
