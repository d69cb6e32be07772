// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/tree_table.h"

#include "fixture.h"

namespace tributary::panama {
namespace {

class TreeTableTest : public ::testing::Test {
 protected:
  void add(std::uint32_t job, std::uint16_t number) {
    table_.add(std::make_unique<Tree>(root_of(1, number, job), self, 2));
  }

  TreeTable table_;
};

TEST_F(TreeTableTest, TreesAreFoundByJobAndNumber) {
  EXPECT_EQ(table_.find(7, 0), nullptr);
  for (std::uint32_t job = 1; job <= 8; ++job) {
    for (std::uint16_t number = 0; number < 4; ++number) {
      add(job, number);
    }
  }
  for (const auto& tree : table_.all()) {
    EXPECT_EQ(table_.find(tree->config().job, tree->config().tree), tree.get());
  }
  EXPECT_EQ(table_.find(9, 0), nullptr);
  EXPECT_EQ(table_.find(8, 4), nullptr);
}

TEST_F(TreeTableTest, WhatIsRemovedIsNotFoundAndTheOthersAre) {
  for (std::uint16_t number = 0; number < 16; ++number) {
    add(7, number);
  }
  table_.remove_if([](const Tree& tree) { return tree.config().tree % 2 == 0; });
  ASSERT_EQ(table_.all().size(), 8u);
  for (std::uint16_t number = 0; number < 16; ++number) {
    const auto* found = table_.find(7, number);
    EXPECT_EQ(found != nullptr, number % 2 == 1) << number;
    EXPECT_TRUE(found == nullptr || found->config().tree == number);
  }
  add(7, 0);
  EXPECT_EQ(table_.find(7, 0), table_.all().back().get());
}

TEST_F(TreeTableTest, AFrameNamesItsTree) {
  HeapPacketPool pool(2, 512);
  add(7, 3);
  auto packet = test::make_panama(pool, from(root_of(1, 3), 0), Ints{1});
  auto frame = engine::parse_frame(*packet);
  EXPECT_EQ(table_.find(frame), table_.all().front().get());
  frame.payload = frame.payload.first(sizeof(wire::PanamaHeader) - 1);
  EXPECT_EQ(table_.find(frame), nullptr);
  EXPECT_EQ(table_.find(engine::Frame{}), nullptr);
}

}  // namespace
}  // namespace tributary::panama
