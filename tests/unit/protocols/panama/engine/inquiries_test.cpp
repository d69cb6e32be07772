// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/panama/engine/inquiries.h"

#include "fixture.h"

namespace tributary::panama {
namespace {

constexpr Round asked_round{.run = 7, .epoch = 3};
constexpr Neighbours left_child{.children = 0b01};
constexpr Neighbours right_child{.children = 0b10};
constexpr Neighbours the_parent{.parent = true};

TEST(Inquiries, AreMadeAgainOnlyAfterAWhile) {
  Inquiries inquiries;
  const Time start{5s};
  EXPECT_TRUE(inquiries.note(asked_round, 9, left_child, start));
  EXPECT_FALSE(inquiries.note(asked_round, 9, right_child, start + 999us)) << "whoever asks";
  EXPECT_TRUE(inquiries.note(asked_round, 9, left_child, start + 1ms));
  EXPECT_FALSE(inquiries.note(asked_round, 9, left_child, start + 1999us));
  EXPECT_TRUE(inquiries.note(asked_round, 10, left_child, start)) << "of another packet";
  EXPECT_TRUE(inquiries.note({.run = 7, .epoch = 4}, 9, left_child, start)) << "another epoch";
  EXPECT_TRUE(inquiries.note({.run = 8, .epoch = 3}, 9, left_child, start)) << "another run";
}

TEST(Inquiries, AreSettledOnceForAllWhoAsked) {
  Inquiries inquiries;
  inquiries.note(asked_round, 9, left_child, Time{1s});
  inquiries.note(asked_round, 9, right_child, Time{1s});
  inquiries.note(asked_round, 9, the_parent, Time{1s});
  const auto askers = inquiries.settle(asked_round, 9);
  EXPECT_EQ(askers.children, 0b11u);
  EXPECT_TRUE(askers.parent);
  EXPECT_FALSE(inquiries.settle(asked_round, 9).any());
  EXPECT_FALSE(inquiries.settle(asked_round, 10).any()) << "nobody asked";
}

// There are more inquiries than there is room for: one that is asked again and again stays, as long
// as the others of its set are asked once.
TEST(Inquiries, WhatIsStillAskedForIsNotPushedOut) {
  Inquiries inquiries;
  Time now{1s};
  inquiries.note(asked_round, 0, left_child, now);
  for (std::uint32_t vid = 1; vid < 100'000; ++vid) {
    now += 1us;
    inquiries.note(asked_round, vid, right_child, now);
    inquiries.note(asked_round, 0, left_child, now);
  }
  EXPECT_EQ(inquiries.settle(asked_round, 0).children, left_child.children);
  EXPECT_FALSE(inquiries.settle(asked_round, 1).any()) << "that was pushed out";
}

}  // namespace
}  // namespace tributary::panama
