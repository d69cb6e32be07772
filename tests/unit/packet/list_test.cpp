// SPDX-License-Identifier: BSD-3-Clause
#include "packet/list.h"

#include <gtest/gtest.h>

#include "packet/pool.h"

namespace tributary {
namespace {

class PacketListTest : public testing::Test {
 protected:
  PacketPtr numbered(std::uint32_t number) {
    auto packet = pool_.allocate();
    packet->driver_tag = number;
    return packet;
  }
  static std::uint32_t pop_number(PacketList& list) {
    auto packet = list.pop();
    return packet ? packet->driver_tag : 0;
  }
  PacketList numbers(std::uint32_t first, std::uint32_t last) {
    PacketList list;
    for (auto i = first; i <= last; ++i) {
      list.push(numbered(i));
    }
    return list;
  }

  HeapPacketPool pool_{16, 64};
};

TEST_F(PacketListTest, take_parts_a_list_in_order) {
  auto list = numbers(1, 5);
  auto taken = list.take(2);
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_EQ(pop_number(taken), 1U);
  EXPECT_EQ(pop_number(taken), 2U);
  EXPECT_TRUE(list.take(0).empty());
  taken = list.take(9);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(taken.size(), 3U);
  EXPECT_EQ(pop_number(taken), 3U);
  list.push(numbered(6));
  EXPECT_EQ(list.size(), 1U);
}

TEST_F(PacketListTest, first_in_first_out) {
  auto list = numbers(1, 3);
  EXPECT_EQ(list.size(), 3U);
  EXPECT_EQ(list.front()->driver_tag, 1U);
  for (std::uint32_t i = 1; i <= 3; ++i) {
    EXPECT_EQ(pop_number(list), i);
  }
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.pop(), nullptr);
  EXPECT_EQ(list.front(), nullptr);
}

TEST_F(PacketListTest, can_be_filled_again_after_it_was_emptied) {
  auto list = numbers(1, 1);
  EXPECT_EQ(pop_number(list), 1U);
  list.push(numbered(2));
  list.push(numbered(3));
  EXPECT_EQ(pop_number(list), 2U);
  EXPECT_EQ(pop_number(list), 3U);
}

TEST_F(PacketListTest, append_moves_everything_behind) {
  auto list = numbers(1, 2);
  auto more = numbers(3, 4);
  list.append(std::move(more));
  EXPECT_TRUE(more.empty());  // NOLINT(bugprone-use-after-move): defined to be empty
  EXPECT_EQ(list.size(), 4U);
  list.append(PacketList{});
  PacketList into;
  into.append(std::move(list));
  into.push(numbered(5));
  for (std::uint64_t i = 1; i <= 5; ++i) {
    EXPECT_EQ(pop_number(into), i);
  }
}

TEST_F(PacketListTest, popped_packets_have_no_link) {
  auto list = numbers(1, 2);
  EXPECT_EQ(list.pop()->next, nullptr);
}

TEST_F(PacketListTest, assignment_and_destruction_return_packets_to_the_pool) {
  {
    auto list = numbers(1, 4);
    list = numbers(5, 6);
    EXPECT_EQ(pool_.outstanding(), 2U);
    PacketList moved(std::move(list));
    EXPECT_EQ(moved.size(), 2U);
    EXPECT_EQ(pool_.outstanding(), 2U);
    moved.clear();
    EXPECT_EQ(pool_.outstanding(), 0U);
    moved.push(numbered(7));
  }
  EXPECT_EQ(pool_.outstanding(), 0U);
}

}  // namespace
}  // namespace tributary
