// SPDX-License-Identifier: BSD-3-Clause
#include "wire/vlan.h"

#include <array>
#include <cstddef>

#include <gtest/gtest.h>

namespace tributary::wire {
namespace {

TEST(VlanTag, lies_behind_the_type_that_says_so) {
  EXPECT_EQ(offsetof(TaggedHeader, tag), 14U);
  EXPECT_EQ(offsetof(VlanTag, type), 2U);
  EXPECT_EQ(vid_of(0xffff), 4095);
  EXPECT_EQ(vid_of(0xe000), 0);
}

TEST(VlanTag, one_is_stepped_over) {
  std::array<std::byte, 22> frame{};
  auto& header = *reinterpret_cast<TaggedHeader*>(frame.data());
  header.ethernet.type = ethertype::ipv4;
  Cursor plain(frame);
  EXPECT_EQ(take_link_headers(plain), ethertype::ipv4);
  EXPECT_EQ(plain.rest().size(), 8U);
  header.ethernet.type = ethertype::vlan;
  header.tag.type = ethertype::vlan;
  Cursor nested(frame);
  EXPECT_EQ(take_link_headers(nested), ethertype::vlan);
  EXPECT_EQ(nested.rest().size(), 4U);
}

TEST(VlanTag, what_is_cut_is_of_no_type) {
  std::array<std::byte, 18> frame{};
  auto& header = *reinterpret_cast<TaggedHeader*>(frame.data());
  header.ethernet.type = ethertype::vlan;
  header.tag.type = ethertype::ipv4;
  for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
    Cursor cut(Bytes(frame).first(bytes));
    EXPECT_EQ(take_link_headers(cut), 0) << bytes;
  }
}

}  // namespace
}  // namespace tributary::wire
