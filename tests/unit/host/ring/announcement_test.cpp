// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/announcement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::host {
namespace {

using testing::HasSubstr;
using Kind = RingAnnouncement::Kind;

RingAnnouncement announced(Kind kind, wire::Operator op = wire::Operator::sum) {
  auto mine = RingAnnouncement::of(kind, {nullptr, nullptr, 100, wire::ElementType::i32, op}, 3);
  mine.sequence = 7;
  return mine;
}

TEST(RingAnnouncement, IsWhatRanksHaveToCallAlike) {
  const auto mine = announced(Kind::reduce);
  EXPECT_TRUE(agree(mine, announced(Kind::reduce), "rank 1"));
  auto theirs = mine;
  theirs.count = 99;
  const auto refusal = agree(theirs, mine, "rank 1");
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, Error::Code::mismatch);
  EXPECT_THAT(refusal.error().message, HasSubstr("rank 1 is in another collective (its number 7 "
                                                 "with 99 elements, here number 7 with 100)"));
  theirs = mine;
  theirs.root = 4;
  EXPECT_FALSE(agree(theirs, mine, "rank 1"));
  theirs = mine;
  theirs.sequence = 8;
  EXPECT_FALSE(agree(theirs, mine, "rank 1"));
  EXPECT_FALSE(agree(announced(Kind::allreduce), mine, "rank 1"));
  EXPECT_FALSE(agree(announced(Kind::reduce, wire::Operator::max), mine, "rank 1"));
}

TEST(RingAnnouncement, HasWhatTheCallHas) {
  const auto mine = announced(Kind::reduce, wire::Operator::max);
  EXPECT_EQ(mine.kind, Kind::reduce);
  EXPECT_EQ(mine.type, wire::ElementType::i32);
  EXPECT_EQ(mine.op, wire::Operator::max);
  EXPECT_EQ(mine.count.value(), 100u);
  EXPECT_EQ(mine.root.value(), 3u);
}

TEST(RingAnnouncement, OfOneWhoLeavesSaysThat) {
  const auto refusal = agree(announced(Kind::final_barrier), announced(Kind::allreduce), "rank 1");
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, Error::Code::network);
  EXPECT_THAT(refusal.error().message, HasSubstr("rank 1 has ended its communicator"));
  EXPECT_TRUE(agree(announced(Kind::final_barrier), announced(Kind::final_barrier), "rank 1"));
}

TEST(RingAnnouncement, HasTheMarkOfAHandlerThatIsToCombine) {
  const auto handler = wire::handler_operator(0);
  EXPECT_TRUE(announced(Kind::reduce, handler).has_mark());
  EXPECT_EQ(announced(Kind::reduce, handler).bytes().size(), sizeof(RingAnnouncement));
  EXPECT_FALSE(announced(Kind::reduce).has_mark());
  EXPECT_FALSE(announced(Kind::broadcast, handler).has_mark()) << "which combines nothing";
  EXPECT_EQ(announced(Kind::reduce).bytes().size(), RingAnnouncement::common_bytes);
}

TEST(RingAnnouncement, SaysThatAHandlerIsAnotherOne) {
  auto mine = announced(Kind::reduce, wire::handler_operator(2));
  auto theirs = mine;
  EXPECT_TRUE(agree_on_mark(theirs, mine, "rank 1"));
  theirs.mark = mine.mark.value() + 1;
  EXPECT_TRUE(agree(theirs, mine, "rank 1")) << "which looks at what all of them have";
  const auto refusal = agree_on_mark(theirs, mine, "rank 1");
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().code, Error::Code::mismatch);
  EXPECT_THAT(refusal.error().message, HasSubstr("rank 1 has another handler under number 2"));
}

}  // namespace
}  // namespace tributary::host
