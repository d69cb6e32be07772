// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/words.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sodium/core.h>

namespace tributary::host::test {
namespace {

class Words : public testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_GE(::sodium_init(), 0); }

  static Word word(const std::string& text) {
    const auto bytes = bytes_of_text(text);
    return {WordKind::share, {bytes.begin(), bytes.end()}};
  }
  WordStream keeper(const std::string& secret) const {
    return {Secret(secret), session_, WordStream::End::keeper};
  }
  WordStream member(const std::string& secret) const {
    return {Secret(secret), session_, WordStream::End::member};
  }

  RendezvousSession session_{draw_nonce(), draw_nonce()};
};

TEST_F(Words, ComeInTheirOrderHoweverTheyAreCut) {
  auto from = member("s");
  auto to = keeper("s");
  auto bytes = from.write(word("first"));
  const auto second = from.write(word(""));
  bytes.insert(bytes.end(), second.begin(), second.end());
  std::vector<std::string> heard;
  for (const auto byte : bytes) {
    to.feed({&byte, 1});
    const auto next = to.next();
    ASSERT_TRUE(next);
    if (*next) {
      heard.push_back(text_of(wire::Bytes((*next)->body)));
    }
  }
  EXPECT_EQ(heard, (std::vector<std::string>{"first", ""}));
}

// Returns whether the first message that comes is accepted.
bool believes(WordStream to, const std::vector<std::byte>& bytes) {
  to.feed(bytes);
  return to.next().has_value();
}

TEST_F(Words, AreBelievedWithTheirSecretAlone) {
  EXPECT_TRUE(believes(keeper("s"), member("s").write(word("x"))));
  EXPECT_FALSE(believes(keeper("s"), member("t").write(word("x"))));
  EXPECT_FALSE(believes(keeper("s"), member("").write(word("x"))));
  EXPECT_TRUE(believes(keeper(""), member("").write(word("x"))));
}

TEST_F(Words, AreNotBelievedAgainNorTheOtherWayRound) {
  auto from = member("s");
  const auto first = from.write(word("x"));
  auto again = first;
  again.insert(again.end(), first.begin(), first.end());
  auto to = keeper("s");
  to.feed(again);
  EXPECT_TRUE(to.next());
  EXPECT_FALSE(to.next());
  EXPECT_FALSE(believes(keeper("s"), from.write(word("the second, first"))));
  EXPECT_FALSE(believes(member("s"), first));
  auto changed = first;
  changed[sizeof(WordHeader)] ^= std::byte{1};
  EXPECT_FALSE(believes(keeper("s"), changed));
}

TEST_F(Words, OfAnotherConnectionAreNotBelieved) {
  const RendezvousSession other{session_.host, draw_nonce()};
  WordStream to(Secret("s"), other, WordStream::End::keeper);
  EXPECT_FALSE(believes(to, member("s").write(word("x"))));
}

TEST_F(Words, ThatAreTooLongEndTheConnectionBeforeTheyHaveCome) {
  auto bytes = member("s").write(word(std::string(word_to_keeper_bytes_max + 1, 'x')));
  bytes.resize(sizeof(WordHeader));
  EXPECT_FALSE(believes(keeper("s"), bytes));
}

}  // namespace
}  // namespace tributary::host::test
