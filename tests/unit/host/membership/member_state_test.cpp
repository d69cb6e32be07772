// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/member_state.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

class MemberStates : public testing::Test {
 protected:
  bool hear_place(std::uint64_t epoch, std::uint32_t rank = 0, std::uint32_t world_size = 2) {
    const MembershipPlace place{wire::be64{epoch}, wire::be32{rank}, wire::be32{world_size}, {}};
    return known_.hear({WordKind::place, body_of(place)});
  }
  bool hear(WordKind kind, std::uint64_t epoch, const std::string& text) {
    return known_.hear({kind, body_of(Epoch{wire::be64{epoch}}, bytes_of_text(text))});
  }
  bool hear_dismissal(const std::string& why) {
    const auto text = bytes_of_text(why);
    return known_.hear({WordKind::dismissed, {text.begin(), text.end()}});
  }
  // Returns the error of a process that waits for a place after this epoch.
  Error::Code error_after(std::uint64_t epoch) const {
    return known_.place_after(epoch)->error().code;
  }

  MemberState known_;
};

TEST_F(MemberStates, HaveAPlaceWhenTheyWereToldOne) {
  EXPECT_FALSE(known_.place_after(0));
  EXPECT_TRUE(hear_place(3, 1, 4));
  ASSERT_TRUE(known_.place_after(0));
  EXPECT_EQ(known_.place_after(0)->value().rank.value(), 1u);
  EXPECT_FALSE(known_.place_after(3));
  EXPECT_EQ(known_.latest(), 3u);
}

TEST_F(MemberStates, BelieveNoPlaceThatThereCannotBe) {
  EXPECT_FALSE(hear_place(1, 2, 2));
  EXPECT_EQ(error_after(0), Error::Code::rendezvous);
}

TEST_F(MemberStates, EndWithTheirMembership) {
  hear_place(1);
  EXPECT_FALSE(known_.why_ended(1));
  EXPECT_FALSE(known_.end_of(1));
  hear(WordKind::ended, 1, "somebody is gone");
  hear(WordKind::ended, 1, "somebody else, too");
  EXPECT_EQ(known_.why_ended(1), "somebody is gone");
  EXPECT_TRUE(known_.end_of(1)->has_value());
  hear_place(2);
  EXPECT_EQ(known_.why_ended(1), "the latest is membership 2");
  EXPECT_FALSE(known_.why_ended(2));
  hear(WordKind::ended, 1, "of an old one");
  EXPECT_FALSE(known_.why_ended(2));
}

TEST_F(MemberStates, HaveWhatAllShareOnce) {
  hear_place(1);
  EXPECT_FALSE(known_.take_shares(1));
  hear(WordKind::shares, 1, "abcd");
  EXPECT_EQ(text_of(*known_.take_shares(1).value()), "abcd");
  EXPECT_FALSE(known_.take_shares(1));
  hear(WordKind::ended, 1, "somebody is gone");
  EXPECT_EQ(known_.take_shares(1)->error().code, Error::Code::membership_ended);
}

TEST_F(MemberStates, KeepNoSharesOfAnEarlierMembership) {
  hear_place(1);
  hear(WordKind::shares, 1, "abcd");
  hear_place(2);
  EXPECT_FALSE(known_.take_shares(2));
}

TEST_F(MemberStates, SayWhetherWhoIsDismissedEverWasAMember) {
  EXPECT_FALSE(hear_dismissal("another secret"));
  EXPECT_TRUE(known_.is_dismissed());
  EXPECT_EQ(error_after(0), Error::Code::rendezvous);
  known_ = {};
  hear_place(1);
  EXPECT_FALSE(hear_dismissal("left behind"));
  EXPECT_EQ(error_after(1), Error::Code::membership_ended);
  EXPECT_EQ(known_.why_ended(1), "left behind");
}

TEST_F(MemberStates, EndNoMembershipWithTheKeeper) {
  hear_place(1);
  known_.lose("the connection has ended");
  EXPECT_FALSE(known_.why_ended(1));
  EXPECT_EQ(error_after(1), Error::Code::rendezvous);
}

TEST_F(MemberStates, AnswerNothingMoreWhenTheyAreGivenUp) {
  hear_place(1);
  hear(WordKind::shares, 1, "abcd");
  hear(WordKind::ended, 1, "somebody is gone");
  known_.give_up();
  EXPECT_EQ(error_after(0), Error::Code::aborted);
  EXPECT_EQ(known_.take_shares(1)->error().code, Error::Code::aborted);
  EXPECT_EQ(known_.end_of(1)->error().code, Error::Code::aborted);
}

}  // namespace
}  // namespace tributary::host::test
