// SPDX-License-Identifier: BSD-3-Clause
#include "packet/pool.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tributary {
namespace {

TEST(PacketPool, allocates_empty_packets_with_headroom) {
  HeapPacketPool pool(1, 1514);
  const auto packet = pool.allocate();
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(packet->length, 0U);
  EXPECT_EQ(packet->offset, PacketPool::default_headroom);
  EXPECT_EQ(packet->tailroom(), 1514U);
  EXPECT_EQ(packet->ingress, no_port);
  EXPECT_EQ(packet->egress, no_port);
  EXPECT_EQ(packet->next, nullptr);
  EXPECT_EQ(packet->pool, &pool);
}

TEST(PacketPool, exhaustion_is_null_and_ends_when_one_comes_back) {
  constexpr std::size_t packets = 3 * PacketPool::batch + 5;
  HeapPacketPool pool(packets, 64);
  std::vector<PacketPtr> held;
  std::set<const std::byte*> buffers;
  for (std::size_t i = 0; i < packets; ++i) {
    held.push_back(pool.allocate());
    ASSERT_NE(held.back(), nullptr);
    buffers.insert(held.back()->buffer);
  }
  EXPECT_EQ(buffers.size(), packets) << "no buffer is handed out twice";
  EXPECT_EQ(pool.allocate(), nullptr);
  EXPECT_EQ(pool.outstanding(), packets);
  held.pop_back();
  EXPECT_NE(pool.allocate(), nullptr);
  held.clear();
  EXPECT_EQ(pool.outstanding(), 0U);
}

TEST(PacketPool, reused_packets_look_new) {
  HeapPacketPool pool(1, 256);
  auto packet = pool.allocate();
  packet->offset = 3;
  packet->l4_offset = 34;
  packet->noted = 0x80;
  packet->length = 100;
  packet->ingress = 4;
  packet->egress = 5;
  packet->driver_tag = 6;
  packet->vlan = 7;
  packet.reset();
  packet = pool.allocate();
  EXPECT_EQ(packet->offset, PacketPool::default_headroom);
  EXPECT_EQ(packet->noted, 0);
  EXPECT_EQ(packet->length, 0U);
  EXPECT_EQ(packet->ingress, no_port);
  EXPECT_EQ(packet->egress, no_port);
  EXPECT_EQ(packet->driver_tag, 0U);
  EXPECT_EQ(packet->vlan, 0);
}

TEST(PacketPool, buffers_do_not_overlap) {
  constexpr std::size_t packets = 10;
  HeapPacketPool pool(packets, 100);
  std::vector<PacketPtr> held;
  for (std::size_t i = 0; i < packets; ++i) {
    held.push_back(pool.allocate());
    std::fill_n(held.back()->buffer, held.back()->capacity, static_cast<std::byte>(i));
  }
  for (std::size_t i = 0; i < packets; ++i) {
    const auto* buffer = held[i]->buffer;
    EXPECT_TRUE(std::all_of(buffer, buffer + held[i]->capacity,
                            [=](std::byte byte) { return byte == static_cast<std::byte>(i); }));
  }
}

TEST(PacketPool, clone_copies_frame_and_ports) {
  HeapPacketPool pool(2, 128);
  auto original = pool.allocate();
  original->offset = 20;
  original->noted = 0x80;
  original->length = 70;
  original->ingress = 1;
  original->egress = 2;
  original->vlan = 3;
  for (std::uint32_t i = 0; i < original->length; ++i) {
    original->data()[i] = static_cast<std::byte>(i);
  }
  const auto copy = pool.clone(*original);
  ASSERT_NE(copy, nullptr);
  EXPECT_NE(copy->buffer, original->buffer);
  EXPECT_EQ(copy->offset, 20U);
  EXPECT_EQ(copy->noted, 0) << "of that frame alone";
  EXPECT_EQ(copy->ingress, 1);
  EXPECT_EQ(copy->egress, 2);
  EXPECT_EQ(copy->vlan, 3);
  EXPECT_TRUE(std::ranges::equal(copy->bytes(), original->bytes()));
  EXPECT_EQ(pool.clone(*original), nullptr) << "exhausted";
}

TEST(PacketPool, clone_refuses_what_does_not_fit_and_leaks_nothing) {
  HeapPacketPool big(1, 1000);
  HeapPacketPool small(1, 10);
  auto original = big.allocate();
  original->length = 1000;
  EXPECT_EQ(small.clone(*original), nullptr);
  EXPECT_EQ(small.outstanding(), 0U);
}

// A packet that is handed to another core is re-homed and returns to that core's stock.
TEST(PacketPool, a_body_is_shared_by_frames_and_returns_with_the_last) {
  HeapPacketPool pool(4, 200);
  const auto head = std::array{std::byte{1}, std::byte{2}};
  {
    auto& body = *pool.allocate().release();
    body.length = 3;
    body.vlan = 10;
    std::memset(body.data(), 9, 3);
    pool.share(body, 2);
    auto first = pool.allocate_in_front_of(body, head);
    auto second = pool.allocate_in_front_of(body, head);
    ASSERT_TRUE(first && second);
    EXPECT_EQ(first->frame_bytes(), 5u);
    EXPECT_EQ(first->vlan, 10);
    EXPECT_EQ(pool.outstanding(), 3u);
    first.reset();
    EXPECT_EQ(pool.outstanding(), 2u);
    ASSERT_TRUE(make_whole(*second));
    EXPECT_EQ(second->length, 5u);
    EXPECT_EQ(second->data()[1], std::byte{2});
    EXPECT_EQ(second->data()[4], std::byte{9});
    EXPECT_EQ(pool.outstanding(), 1u);
  }
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(PacketPool, a_body_is_let_go_of_where_there_is_no_frame_for_it) {
  HeapPacketPool pool(1, 200);
  auto& body = *pool.allocate().release();
  pool.share(body, 1);
  EXPECT_FALSE(pool.allocate_in_front_of(body, {}));
  EXPECT_EQ(pool.outstanding(), 0u);
}

TEST(PacketPool, packets_return_to_the_pool_they_were_re_homed_to) {
  HeapPacketPool home(1, 64);
  HeapPacketPool other(0, 64);
  auto packet = home.allocate();
  packet->pool = &other;
  auto* address = packet.get();
  packet.reset();
  auto again = other.allocate();
  ASSERT_EQ(again.get(), address);
  again->pool = &home;
  again.reset();
  EXPECT_EQ(home.outstanding(), 0U);
}

// The packet that was used last is still in the cache.
TEST(PacketPool, what_came_back_last_goes_out_first) {
  HeapPacketPool pool(4, 64);
  auto first = pool.allocate();
  auto second = pool.allocate();
  const auto* last = first.get();
  second.reset();
  first.reset();
  EXPECT_EQ(pool.allocate().get(), last);
}

// One pool gets far more releases than allocations, and must hand its surplus back.
TEST(PacketPool, long_use_keeps_the_count) {
  HeapPacketPool pool(500, 64);
  for (std::size_t round = 0; round < 100; ++round) {
    std::vector<PacketPtr> held;
    for (std::size_t i = 0; i < (round * 37) % 500; ++i) {
      held.push_back(pool.allocate());
      ASSERT_NE(held.back(), nullptr);
    }
    EXPECT_EQ(pool.outstanding(), held.size());
  }
  EXPECT_EQ(pool.outstanding(), 0U);
}

}  // namespace
}  // namespace tributary
