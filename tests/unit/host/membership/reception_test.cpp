// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/reception.h"

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sodium/core.h>

#include "host/object_bytes.h"

namespace tributary::host::test {
namespace {

constexpr Time arrival{std::chrono::seconds(1000)};

// Processes at a keeper that has the secret "s".
class Receptions : public testing::Test {
 protected:
  struct Process {
    WordStream stream;
    std::vector<Word> heard;
  };

  static void SetUpTestSuite() { ASSERT_GE(::sodium_init(), 0); }

  // Returns the hello of a founder of a world of that size.
  static MemberHello hello(std::uint32_t rank, std::uint32_t world_size) {
    MemberHello hello;
    hello.options.rank = rank;
    hello.options.world_size = world_size;
    return hello;
  }
  void come(Reception::Id id, const MemberHello& hello, const std::string& secret = "s") {
    reception_.welcome(id, "10.0.0.1");
    RendezvousWelcome welcome;
    const auto told = reception_.take();
    ASSERT_EQ(told.size(), 1u);
    std::memcpy(&welcome, told.front().bytes.data(), sizeof welcome);
    const RendezvousSession session{welcome.nonce, draw_nonce()};
    const Secret mine(secret);
    processes_.emplace(id, Process{{mine, session, WordStream::End::member}, {}});
    reception_.hear(id, bytes_of(greeting_of(hello, session, mine)), arrival);
    listen();
  }
  void found(std::uint32_t world_size) {
    for (std::uint32_t rank = 0; rank < world_size; ++rank) {
      come(10 + rank, hello(rank, world_size));
    }
  }
  void say(Reception::Id id, const std::vector<std::byte>& bytes) {
    reception_.hear(id, bytes, arrival);
    listen();
  }
  void listen() {
    for (const auto& [to, bytes] : reception_.take()) {
      auto& process = processes_.at(to);
      process.stream.feed(bytes);
      for (auto word = process.stream.next(); word && *word; word = process.stream.next()) {
        process.heard.push_back(**word);
      }
    }
  }
  std::vector<WordKind> heard_by(Reception::Id id) const {
    std::vector<WordKind> kinds;
    for (const auto& word : processes_.at(id).heard) {
      kinds.push_back(word.kind);
    }
    return kinds;
  }

  Reception reception_{"s"};
  std::map<Reception::Id, Process> processes_;
};

using Kinds = std::vector<WordKind>;

TEST_F(Receptions, LeadFromAGreetingToAPlace) {
  found(2);
  EXPECT_EQ(heard_by(10), Kinds{WordKind::place});
  EXPECT_EQ(heard_by(11), Kinds{WordKind::place});
  EXPECT_FALSE(reception_.is_stranger(10));
}

TEST_F(Receptions, TurnAwayWhoHasAnotherSecret) {
  come(10, hello(0, 1), "t");
  EXPECT_TRUE(reception_.is_dismissed(10));
  come(11, hello(0, 1));
  EXPECT_EQ(heard_by(11), Kinds{WordKind::place});
}

TEST_F(Receptions, SayNothingToWhoSpeaksAnotherProtocol) {
  reception_.welcome(10, "10.0.0.1");
  EXPECT_TRUE(reception_.is_stranger(10));
  (void)reception_.take();
  reception_.hear(10, std::vector<std::byte>(sizeof(MemberGreeting)), arrival);
  EXPECT_TRUE(reception_.is_dismissed(10));
  EXPECT_TRUE(reception_.take().empty());
}

// This also holds if the sender never reads that it was refused.
TEST_F(Receptions, CountWhoSaysNonsenseForNoMember) {
  found(2);
  say(11, processes_.at(11).stream.write({WordKind::place, {}}));
  EXPECT_TRUE(reception_.is_dismissed(11));
  EXPECT_EQ(heard_by(11), (Kinds{WordKind::place, WordKind::dismissed}));
  EXPECT_EQ(heard_by(10), (Kinds{WordKind::place, WordKind::ended}));
  const RegroupWish wish{wire::be64{1}, wire::be32{0}, wire::be32{5000}};
  say(10, processes_.at(10).stream.write({WordKind::regroup, body_of(wish)}));
  EXPECT_EQ(heard_by(10), (Kinds{WordKind::place, WordKind::ended, WordKind::place}));
}

}  // namespace
}  // namespace tributary::host::test
