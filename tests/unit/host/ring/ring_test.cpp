// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/ring.h"

#include <array>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto soon = 200ms;

// Two ranks on real sockets, between addresses of the loopback interface.
class RingOfTwo : public testing::Test {
 protected:
  RingOfTwo() {
    for (std::uint32_t rank = 0; rank < 2; ++rank) {
      const wire::Ipv4Address address(127, 0, 0, static_cast<std::uint8_t>(rank + 1));
      listeners_[rank] = *listen_on({address, 0});
      meeting_.job.peers.push_back({address, 17000});
      meeting_.ring.push_back(listeners_[rank].local);
    }
  }

  Result<Ring> connect(std::uint32_t rank, Time until) {
    auto meeting = meeting_;
    meeting.job.rank = rank;
    return Ring::connect(meeting, std::move(listeners_[rank]), until);
  }
  std::array<std::optional<Ring>, 2> connect_both() {
    std::array<std::optional<Ring>, 2> rings;
    const std::jthread other([&] { rings[1].emplace(*connect(1, Clock::now() + 10s)); });
    rings[0].emplace(*connect(0, Clock::now() + 10s));
    return rings;
  }
  static std::string message(const Result<void>& done) { return done ? "" : done.error().message; }

 private:
  Meeting meeting_;
  std::array<Listener, 2> listeners_;
};

TEST_F(RingOfTwo, says_who_never_connected) {
  const auto ring = connect(0, Clock::now() + soon);
  ASSERT_FALSE(ring);
  EXPECT_EQ(ring.error().code, Error::Code::rendezvous);
  EXPECT_THAT(ring.error().message,
              AllOf(HasSubstr("rank 1 did not connect"), HasSubstr("TRIBUTARY_DEADLINE")));
}

TEST_F(RingOfTwo, says_who_did_not_join_and_what_helps) {
  auto rings = connect_both();
  const auto done = rings[0]->barrier(Clock::now() + soon);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::Code::timeout);
  EXPECT_THAT(message(done), AllOf(HasSubstr("rank 1 did not join"), HasSubstr("loses too much"),
                                   HasSubstr("TRIBUTARY_DEADLINE")));
  EXPECT_THAT(message(rings[0]->barrier(Clock::now() + soon)), HasSubstr("rank 1 did not join"));
}

TEST_F(RingOfTwo, says_who_was_lost) {
  auto rings = connect_both();
  rings[1].reset();
  const auto done = rings[0]->barrier(Clock::now() + 10s);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::Code::network);
  EXPECT_THAT(message(done), AllOf(HasSubstr("connection with rank 1 broke"),
                                   HasSubstr("rank 1 has ended, and says why itself")));
}

// Rank 1 announces the collective, and has no time to send its numbers.
TEST_F(RingOfTwo, says_how_much_came) {
  auto rings = connect_both();
  std::vector<float> vector(64, 1.0f);
  const auto bytes = std::as_writable_bytes(std::span(vector));
  const Buffers buffers{bytes.data(), bytes.data(), vector.size(), wire::ElementType::f32,
                        wire::Operator::sum};
  EXPECT_FALSE(rings[1]->allreduce(buffers, Clock::now()));
  const auto done = rings[0]->allreduce(buffers, Clock::now() + soon);
  EXPECT_THAT(message(done), AllOf(HasSubstr("rank 1 had sent 0 of 256 bytes by the deadline"),
                                   HasSubstr("TRIBUTARY_DEADLINE")));
}

}  // namespace
}  // namespace tributary::host::test
