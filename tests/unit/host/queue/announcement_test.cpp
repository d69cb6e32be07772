// SPDX-License-Identifier: BSD-3-Clause
#include "host/queue/announcement.h"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

const Shape reduction{Collective::reduce, wire::ElementType::i32, wire::Operator::max, 2, 0x1234};

TEST(Announcement, HasOneRecordPerName) {
  const std::vector<Announced> names{{"weights", reduction}, {"b", {}}};
  const auto bytes = announcement_of(names);
  const unsigned char begin[] = {7, 1, 6, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 'w', 'e'};
  for (std::size_t i = 0; i < sizeof begin; ++i) {
    EXPECT_EQ(static_cast<unsigned char>(bytes[i]), begin[i]) << i;
  }
  const auto parsed = parse_announcement(bytes, 3);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 2u);
  EXPECT_EQ((*parsed)[0].name, "weights");
  EXPECT_EQ((*parsed)[0].shape, reduction);
  EXPECT_EQ((*parsed)[1].name, "b");
  EXPECT_EQ((*parsed)[1].shape, Shape{});
}

TEST(Announcement, KnowsHandlersAndTheirTypes) {
  const Shape by_handler{Collective::allreduce, wire::ElementType::opaque8,
                         wire::handler_operator(63), 0, 10};
  const auto parsed =
      parse_announcement(announcement_of(std::vector<Announced>{{"h", by_handler}}), 2);
  ASSERT_TRUE(parsed);
  ASSERT_EQ(parsed->size(), 1u);
  EXPECT_EQ(parsed->front().shape, by_handler);
}

TEST(Announcement, TakesAsManyNamesAsFit) {
  constexpr std::size_t fit = announcement_bytes / (16 + queue_name_bytes_max);
  std::vector<Announced> names;
  for (std::size_t i = 0; i < fit + 5; ++i) {
    names.push_back({std::string(queue_name_bytes_max, static_cast<char>('a' + i % 26)), {}});
  }
  const auto parsed = parse_announcement(announcement_of(names), 1);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->size(), fit);
  EXPECT_EQ(parsed->back().name, names[fit - 1].name);
}

TEST(Announcement, OfNothingIsEmpty) {
  const auto parsed = parse_announcement(announcement_of({}), 1);
  ASSERT_TRUE(parsed);
  EXPECT_TRUE(parsed->empty());
}

TEST(Announcement, WhatIsNoCollectiveIsRefused) {
  const std::vector<Announced> names{{"x", reduction}};
  const auto sound = announcement_of(names);
  EXPECT_TRUE(parse_announcement(sound, 3));
  EXPECT_FALSE(parse_announcement(sound, 2));  // no such root
  for (const std::size_t field : {1u, 2u, 3u}) {
    auto broken = sound;
    broken[field] = std::byte{0xff};
    EXPECT_EQ(parse_announcement(broken, 3).error().code, Error::Code::mismatch) << field;
  }
  EXPECT_FALSE(parse_announcement(wire::Bytes(sound).first(16), 3));  // the name is cut off
}

}  // namespace
}  // namespace tributary::host::test
