// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/roster.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

constexpr Time start{1000s};

// A keeper's roster, and its messages to each connection since the last look.
class Rosters : public testing::Test {
 protected:
  static MemberHello hello(bool joins, std::uint32_t rank = 0, std::uint32_t world_size = 1) {
    MemberHello hello;
    hello.joins = joins ? 1 : 0;
    hello.options.rank = rank;
    hello.options.world_size = world_size;
    hello.options.algorithm = rendezvous_name("auto");
    hello.options.protocol = rendezvous_name("canary");
    return hello;
  }

  // Connections 10, 11, ... by rank.
  void found(std::uint32_t world_size) {
    for (std::uint32_t rank = 0; rank < world_size; ++rank) {
      roster_.come(10 + rank, hello(false, rank, world_size), "10.0.0." + std::to_string(rank));
    }
    look();
  }
  void join(Roster::Id id) { roster_.come(id, hello(true), "10.0.1." + std::to_string(id)); }
  bool regroup(Roster::Id id, std::uint64_t epoch, std::uint32_t world_size = 0, Time now = start) {
    const RegroupWish wish{wire::be64{epoch}, wire::be32{world_size}, wire::be32{5000}};
    return roster_.hear(id, {WordKind::regroup, body_of(wish)}, now);
  }
  bool share(Roster::Id id, std::uint64_t epoch, const std::string& text) {
    const auto body = body_of(Epoch{wire::be64{epoch}}, bytes_of_text(text));
    return roster_.hear(id, {WordKind::share, body}, start);
  }

  void look() {
    told_.clear();
    for (auto& [to, word] : roster_.take()) {
      told_[to].push_back(std::move(word));
    }
  }
  // Returns the last message to that connection.
  const Word* last(Roster::Id id) const {
    const auto found = told_.find(id);
    return found == told_.end() ? nullptr : &found->second.back();
  }
  // "epoch/rank of size"
  std::string place_of(Roster::Id id) const {
    const auto* const word = last(id);
    if (word == nullptr || word->kind != WordKind::place) {
      return "none";
    }
    MembershipPlace place;
    std::memcpy(&place, word->body.data(), sizeof place);
    return std::to_string(place.epoch.value()) + "/" + std::to_string(place.rank.value()) + " of " +
           std::to_string(place.world_size.value()) + ", " +
           std::to_string(place.newcomers.value()) + " new";
  }
  std::string text_to(Roster::Id id, WordKind kind) const {
    const auto* const word = last(id);
    if (word == nullptr || word->kind != kind) {
      return "";
    }
    return text_of(wire::Bytes(word->body).subspan(kind == WordKind::ended ? sizeof(Epoch) : 0));
  }

  Roster roster_;
  std::map<Roster::Id, std::vector<Word>> told_;
};

TEST_F(Rosters, AWorldIsFoundedWhenAllHaveCome) {
  roster_.come(11, hello(false, 1, 2), "b");
  look();
  EXPECT_TRUE(told_.empty());
  roster_.come(10, hello(false, 0, 2), "a");
  look();
  EXPECT_EQ(place_of(10), "1/0 of 2, 2 new");
  EXPECT_EQ(place_of(11), "1/1 of 2, 2 new");
}

TEST_F(Rosters, FoundersThatCannotBeAreTurnedAway) {
  roster_.come(10, hello(false, 0, 3), "a");
  roster_.come(20, hello(false, 0, 3), "b");
  roster_.come(21, hello(false, 1, 4), "c");
  roster_.come(22, hello(false, 3, 3), "d");
  look();
  EXPECT_NE(text_to(20, WordKind::dismissed).find("rank 0 came twice: from a and from b"),
            std::string::npos);
  EXPECT_NE(text_to(21, WordKind::dismissed).find("world size 4, others with 3"),
            std::string::npos);
  EXPECT_NE(text_to(22, WordKind::dismissed).find("rank 3 does not exist"), std::string::npos);
  auto other = hello(false, 1, 3);
  other.options.version = rendezvous_version + 1;
  roster_.come(23, other, "e");
  look();
  EXPECT_NE(text_to(23, WordKind::dismissed).find("another version"), std::string::npos);
  // None of this disturbs the true members.
  roster_.come(11, hello(false, 1, 3), "f");
  roster_.come(12, hello(false, 2, 3), "g");
  look();
  EXPECT_EQ(place_of(12), "1/2 of 3, 3 new");
}

TEST_F(Rosters, AFounderThatWentAwayMayComeAgain) {
  roster_.come(10, hello(false, 0, 2), "a");
  roster_.leave(10, start);
  roster_.come(20, hello(false, 0, 2), "a");
  roster_.come(11, hello(false, 1, 2), "b");
  look();
  EXPECT_EQ(place_of(20), "1/0 of 2, 2 new");
}

TEST_F(Rosters, WhoIsGoneIsToldOfAndLeftOut) {
  found(3);
  roster_.leave(11, start);
  look();
  EXPECT_EQ(text_to(10, WordKind::ended), "rank 1 at 10.0.0.1 is gone");
  EXPECT_EQ(text_to(12, WordKind::ended), "rank 1 at 10.0.0.1 is gone");
  // A member may regroup once.
  EXPECT_TRUE(regroup(12, 1));
  look();
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(regroup(10, 1));
  look();
  EXPECT_EQ(place_of(10), "2/0 of 2, 0 new");
  EXPECT_EQ(place_of(12), "2/1 of 2, 0 new");
  // It may do so once in each membership.
  EXPECT_TRUE(regroup(12, 2));
  look();
  EXPECT_EQ(text_to(10, WordKind::ended), "rank 1 at 10.0.0.2 has called regroup()");
  EXPECT_EQ(last(12), nullptr);
}

TEST_F(Rosters, AskingOnceMoreForWhatWasAgreedOnChangesNothing) {
  found(2);
  EXPECT_TRUE(regroup(10, 1));
  EXPECT_TRUE(regroup(11, 1));
  look();
  EXPECT_TRUE(regroup(10, 1));
  look();
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(roster_.deadline(), never);
}

TEST_F(Rosters, ANewcomerTakesTheRankOfWhoIsGone) {
  found(3);
  roster_.leave(11, start);
  join(20);
  join(21);
  EXPECT_TRUE(regroup(12, 1));
  EXPECT_TRUE(regroup(10, 1));
  look();
  EXPECT_EQ(place_of(10), "2/0 of 4, 2 new");
  EXPECT_EQ(place_of(20), "2/1 of 4, 2 new");
  EXPECT_EQ(place_of(12), "2/2 of 4, 2 new");
  EXPECT_EQ(place_of(21), "2/3 of 4, 2 new");
}

TEST_F(Rosters, Rank0IsOfThoseWhoStay) {
  found(3);
  roster_.leave(10, start);
  join(20);
  EXPECT_TRUE(regroup(11, 1));
  EXPECT_TRUE(regroup(12, 1));
  look();
  EXPECT_EQ(place_of(11), "2/0 of 3, 1 new");
  EXPECT_EQ(place_of(20), "2/1 of 3, 1 new");
  EXPECT_EQ(place_of(12), "2/2 of 3, 1 new");
}

TEST_F(Rosters, NewcomersAreWaitedForAsLongAsTheyAreAskedFor) {
  found(2);
  roster_.leave(11, start);
  EXPECT_TRUE(regroup(10, 1, 2));
  look();
  EXPECT_EQ(place_of(10), "none");
  EXPECT_EQ(roster_.deadline(), start + 5s);
  join(20);
  look();
  EXPECT_EQ(place_of(20), "2/1 of 2, 1 new");
  EXPECT_EQ(roster_.deadline(), never);

  EXPECT_TRUE(regroup(10, 2, 3));
  EXPECT_TRUE(regroup(20, 2, 0));
  roster_.expire(start + 4s);
  look();
  EXPECT_EQ(place_of(10), "none");
  roster_.expire(start + 5s);
  look();
  EXPECT_EQ(place_of(10), "3/0 of 2, 0 new");
}

TEST_F(Rosters, WhoDoesNotCallIsLeftBehindAndToldSo) {
  found(3);
  EXPECT_TRUE(regroup(10, 1));
  EXPECT_TRUE(regroup(12, 1, 0, start + 1s));
  roster_.expire(start + 5s);
  look();
  const auto text = text_to(11, WordKind::dismissed);
  EXPECT_NE(text.find("membership 2 was agreed on without rank 1"), std::string::npos) << text;
  EXPECT_NE(text.find("TRIBUTARY_MEMBERSHIP=join"), std::string::npos) << text;
  EXPECT_EQ(place_of(12), "2/1 of 2, 0 new");
  EXPECT_FALSE(regroup(11, 1));
  EXPECT_FALSE(share(11, 2, "x"));
  // Its end then ends no membership.
  look();
  roster_.leave(11, start);
  look();
  EXPECT_TRUE(told_.empty());
}

TEST_F(Rosters, WhoAskedAloneAndIsGoneAsksNoMore) {
  found(3);
  EXPECT_TRUE(regroup(10, 1));
  roster_.leave(10, start);
  EXPECT_EQ(roster_.deadline(), never);
  roster_.expire(start + 100s);
  look();
  EXPECT_EQ(place_of(11), "none");
  EXPECT_TRUE(regroup(11, 1));
  EXPECT_TRUE(regroup(12, 1));
  look();
  EXPECT_EQ(place_of(11), "2/0 of 2, 0 new");
}

TEST_F(Rosters, WhatWhoIsGoneAskedForHoldsNobodyUp) {
  found(3);
  EXPECT_TRUE(regroup(10, 1, 8));
  EXPECT_TRUE(regroup(11, 1, 2, start + 1s));
  EXPECT_EQ(roster_.deadline(), start + 5s);
  roster_.leave(10, start + 2s);
  EXPECT_EQ(roster_.deadline(), start + 6s);
  EXPECT_TRUE(regroup(12, 1, 0, start + 3s));
  look();
  EXPECT_EQ(place_of(11), "2/0 of 2, 0 new");
  EXPECT_EQ(place_of(12), "2/1 of 2, 0 new");
}

TEST_F(Rosters, WhatIsAskedForAgainTakesThePlaceOfWhatWas) {
  found(1);
  EXPECT_TRUE(regroup(10, 1, 2));
  look();
  EXPECT_EQ(place_of(10), "none");
  EXPECT_TRUE(regroup(10, 1, 0, start + 1s));
  look();
  EXPECT_EQ(place_of(10), "2/0 of 1, 0 new");
}

TEST_F(Rosters, SharesAreHandedOutWhenAllAreThere) {
  found(2);
  EXPECT_TRUE(share(11, 1, "cd"));
  look();
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(share(10, 1, "ab"));
  look();
  EXPECT_EQ(text_of(wire::Bytes(last(10)->body).subspan(sizeof(Epoch))), "abcd");
  EXPECT_EQ(last(11)->body, last(10)->body);
  // Once, and of this membership alone.
  EXPECT_FALSE(share(10, 1, "ab"));
  EXPECT_FALSE(share(11, 2, "ab"));
}

TEST_F(Rosters, SharesOfDifferentLengthsAreNone) {
  found(2);
  EXPECT_TRUE(share(11, 1, "cd"));
  EXPECT_TRUE(share(10, 1, "abc"));
  look();
  EXPECT_TRUE(told_.empty());
}

TEST_F(Rosters, ANewcomerWithOtherOptionsIsTurnedAway) {
  join(30);  // before there is a world
  auto other = hello(true);
  other.options.job = 5;
  roster_.come(31, other, "x");
  found(2);
  EXPECT_NE(text_to(31, WordKind::dismissed).find("this newcomer was started with job 5"),
            std::string::npos);
  EXPECT_EQ(last(30), nullptr);
  roster_.come(32, other, "y");
  look();
  EXPECT_NE(text_to(32, WordKind::dismissed).find("other options"), std::string::npos);
  EXPECT_TRUE(regroup(10, 1));
  EXPECT_TRUE(regroup(11, 1));
  look();
  EXPECT_EQ(place_of(30), "2/2 of 3, 1 new");
  EXPECT_EQ(place_of(31), "none");
}

TEST_F(Rosters, AFounderOfAWorldThatThereIsIsToldHowToJoin) {
  found(2);
  roster_.come(20, hello(false, 1, 2), "x");
  look();
  EXPECT_NE(text_to(20, WordKind::dismissed).find("set TRIBUTARY_MEMBERSHIP=join"),
            std::string::npos);
}

TEST_F(Rosters, MembersHearHowManyWait) {
  found(1);
  join(20);
  join(21);
  roster_.leave(20, start);
  look();
  std::vector<std::uint32_t> counts;
  for (const auto& word : told_[10]) {
    ASSERT_EQ(word.kind, WordKind::waiting);
    WaitingCount count;
    std::memcpy(&count, word.body.data(), sizeof count);
    counts.push_back(count.count.value());
  }
  EXPECT_EQ(counts, (std::vector<std::uint32_t>{1, 2, 1}));
}

TEST_F(Rosters, AWorldEndsWithItsLastMember) {
  found(2);
  join(20);
  roster_.leave(10, start);
  roster_.leave(11, start);
  look();
  EXPECT_NE(text_to(20, WordKind::dismissed).find("has ended"), std::string::npos);
  // The next world has numbers of its own.
  roster_.come(40, hello(false, 0, 1), "x");
  look();
  EXPECT_EQ(place_of(40), "2/0 of 1, 1 new");
}

TEST_F(Rosters, NonsenseIsNoWord) {
  found(2);
  join(20);
  EXPECT_FALSE(roster_.hear(10, {WordKind::regroup, {}}, start));
  EXPECT_FALSE(roster_.hear(10, {WordKind::share, {}}, start));
  EXPECT_FALSE(roster_.hear(10, {WordKind::place, {}}, start));
  EXPECT_FALSE(regroup(10, 7));
  EXPECT_FALSE(regroup(10, 1, 1'000'000));
  EXPECT_FALSE(regroup(20, 1));
  EXPECT_FALSE(regroup(99, 1));
}

}  // namespace
}  // namespace tributary::host::test
