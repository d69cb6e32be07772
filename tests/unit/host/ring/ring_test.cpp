// SPDX-License-Identifier: BSD-3-Clause
#include "host/ring/ring.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/ring/pending_peers.h"
#include "host/ring/sizes.h"
#include "support/handlers.h"
#include "unit/host/ring/lists.h"

namespace tributary::host::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

constexpr auto soon = 200ms;

Buffers of(std::vector<float>& vector) {
  const auto bytes = std::as_writable_bytes(std::span(vector));
  return {bytes.data(), bytes.data(), vector.size(), wire::ElementType::f32, wire::Operator::sum};
}

// Two ranks on real sockets, between addresses of the loopback interface.
class RingOfTwo : public testing::Test {
 protected:
  RingOfTwo() {
    meeting_.job.payload_bytes = 64;
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
  // Delays what rank 1 sends: behind its greeting come so many pieces of four bytes, with a pause
  // before each, and one before the greeting; one of them may be damaged.
  std::jthread slow_down(std::size_t pieces, Duration pause, Duration silence = {},
                         std::size_t damaged = ~std::size_t{0}) {
    const auto there = meeting_.ring[0];
    auto here = *listen_on({there.address, 0});
    meeting_.ring[0] = here.local;
    return std::jthread([=, here = std::move(here)] {
      const auto until = Clock::now() + 20s;
      const auto from = accept_until(here, until);
      const auto to = connect_until(there, {}, until);
      ASSERT_TRUE(from && to);
      std::array<std::byte, 20> greeting{};
      ASSERT_TRUE(receive_all(from->get(), greeting, until));
      std::this_thread::sleep_for(silence);
      ASSERT_TRUE(send_all(to->get(), greeting, until));
      std::array<std::byte, 4> piece{};
      for (std::size_t i = 0; i < pieces && receive_all(from->get(), piece, until); ++i) {
        std::this_thread::sleep_for(pause);
        piece[0] ^= std::byte{i == damaged ? std::uint8_t{0x80} : std::uint8_t{0}};
        ASSERT_TRUE(send_all(to->get(), piece, until));
      }
      (void)wait_for(from->get(), POLLRDHUP, until);  // the connection stays
    });
  }
  // Passes on what rank 1 says to rank 0 until it has announced a collective, takes so many bytes
  // of its vector, and resets the connection.
  std::jthread reset_after(std::size_t bytes) {
    const auto there = meeting_.ring[0];
    auto here = *listen_on({there.address, 0});
    meeting_.ring[0] = here.local;
    return std::jthread([=, here = std::move(here)] {
      const auto until = Clock::now() + 20s;
      auto from = accept_until(here, until);
      const auto to = connect_until(there, {}, until);
      ASSERT_TRUE(from && to);
      static_assert(RingAnnouncement::common_bytes == 20, "as many as a greeting has");
      for (int message = 0; message < 2; ++message) {
        std::array<std::byte, RingAnnouncement::common_bytes> bytes_of_it{};
        ASSERT_TRUE(receive_all(from->get(), bytes_of_it, until));
        ASSERT_TRUE(send_all(to->get(), bytes_of_it, until));
      }
      std::vector<std::byte> elements(bytes);
      ASSERT_TRUE(receive_all(from->get(), elements, until));
      const linger none{1, 0};
      ::setsockopt(from->get(), SOL_SOCKET, SO_LINGER, &none, sizeof none);
      *from = FileDescriptor();
      (void)wait_for(to->get(), POLLRDHUP, until);  // the other connection stays
    });
  }
  // The ranks call allreduces of different lengths.
  void expect_mismatch(std::size_t count_0, std::size_t count_1) {
    auto rings = connect_both();
    const auto call = [&](std::size_t rank, std::size_t count) {
      std::vector<float> vector(count, 1.0f);
      const auto done = rings[rank]->allreduce(of(vector), Clock::now() + 10s);
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().code, Error::Code::mismatch) << message(done);
      EXPECT_THAT(message(done), HasSubstr("is in another collective"));
    };
    const std::jthread other([&] { call(1, count_1); });
    call(0, count_0);
  }
  Endpoint listening(std::uint32_t rank) const { return meeting_.ring[rank]; }
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

// The segment with the greeting was lost, and is sent again after seconds; rank 1 regards itself as
// connected.
TEST_F(RingOfTwo, waits_for_a_greeting_that_is_late) {
  const auto relay = slow_down(0, 0ms, 1500ms);
  const auto rings = connect_both();
  EXPECT_TRUE(rings[0] && rings[1]);
}

TEST_F(RingOfTwo, does_not_wait_for_strangers_who_say_nothing_or_something_else) {
  std::vector<FileDescriptor> strangers;
  for (std::size_t i = 0; i < PendingPeers::count_max + 1; ++i) {
    strangers.push_back(*connect_until(listening(0), {}, Clock::now() + 10s));
    if (i % 2 != 0) {
      ASSERT_TRUE(send_all(strangers[i].get(), std::vector<std::byte>(20), Clock::now() + 10s));
    }
  }
  const auto rings = connect_both();
  EXPECT_TRUE(rings[0] && rings[1]);
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
  std::vector<float> vector(10'000, 1.0f);
  EXPECT_FALSE(rings[1]->allreduce(of(vector), Clock::now()));
  const auto done = rings[0]->allreduce(of(vector), Clock::now() + soon);
  EXPECT_THAT(
      message(done),
      AllOf(HasSubstr("allreduce did not finish within its deadline of 0.2 s: "),
            HasSubstr("rank 1 had sent 0 of 40000 bytes"), HasSubstr("TRIBUTARY_DEADLINE")));
}

// Rank 1 has sent what it can, and waits for rank 0, which is silent, when the connection to it is
// reset.
TEST_F(RingOfTwo, says_at_once_that_a_connection_was_reset) {
  const auto relay = reset_after(4096);
  auto rings = connect_both();
  std::vector<float> vector(10'000, 1.0f);
  EXPECT_FALSE(rings[0]->allreduce(of(vector), Clock::now()));
  const auto done = rings[1]->allreduce(of(vector), {never, 60s});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::Code::network) << message(done);
}

// One rank takes the vector for short, and waits for its partner; the other one waits for the rank
// before it in the ring.
TEST_F(RingOfTwo, compares_lengths_that_go_different_ways) {
  expect_mismatch(doubling_bytes_max / sizeof(float) + 1, doubling_bytes_max / sizeof(float));
}

TEST_F(RingOfTwo, says_who_has_ended_while_this_rank_goes_on) {
  auto rings = connect_both();
  const std::jthread other([&] {
    EXPECT_FALSE(rings[1]->final_barrier(Clock::now() + 10s)) << "its partner does not end";
  });
  std::vector<float> vector(100000, 1.0f);
  const auto done = rings[0]->allreduce(of(vector), Clock::now() + 10s);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::Code::network);
  EXPECT_THAT(message(done), HasSubstr("rank 1 has ended its communicator"));
  rings[0]->shut_down();
}

TEST_F(RingOfTwo, compares_lengths_of_short_vectors) {
  expect_mismatch(3, 2);
}

TEST_F(RingOfTwo, adds_short_and_long_vectors_in_turn) {
  auto rings = connect_both();
  const auto calls = [&](Ring& ring) {
    for (const std::size_t count : {1u, 100'000u, 8192u, 0u, 8193u}) {
      std::vector<float> vector(count, 1.5f);
      const auto done = ring.allreduce(of(vector), Clock::now() + 10s);
      ASSERT_TRUE(done) << message(done);
      EXPECT_EQ(vector, std::vector<float>(count, 3.0f));
      EXPECT_TRUE(ring.barrier(Clock::now() + 10s));
    }
  };
  const std::jthread other([&] { calls(*rings[1]); });
  calls(*rings[0]);
}

SparseBuffers sparse_of(const std::vector<std::uint32_t>& indices, const std::vector<float>& values,
                        std::size_t count) {
  return {indices, std::as_bytes(std::span(values)).data(), count, wire::ElementType::f32,
          wire::Operator::sum};
}

TEST_F(RingOfTwo, adds_sparse_vectors) {
  auto rings = connect_both();
  const std::vector<float> values = {1.5f, 2.5f};
  const std::vector<std::uint32_t> ours = {3, 900};
  const std::vector<std::uint32_t> theirs = {3, 500};
  const std::jthread other([&] {
    EXPECT_TRUE(rings[1]->sparse_allreduce(sparse_of(theirs, values, 1000), Clock::now() + 10s));
  });
  const auto sum = rings[0]->sparse_allreduce(sparse_of(ours, values, 1000), Clock::now() + 10s);
  ASSERT_TRUE(sum) << sum.error().message;
  EXPECT_EQ(sum->indices, (std::vector<std::uint32_t>{3, 500, 900}));
  EXPECT_EQ(sum->as<float>().values, (std::vector<float>{3.0f, 2.5f, 2.5f}));
}

TEST_F(RingOfTwo, compares_how_long_sparse_vectors_are) {
  auto rings = connect_both();
  const auto call = [&](std::size_t rank, std::size_t count) {
    const auto sum = rings[rank]->sparse_allreduce(sparse_of({}, {}, count), Clock::now() + 10s);
    ASSERT_FALSE(sum);
    EXPECT_EQ(sum.error().code, Error::Code::mismatch);
  };
  const std::jthread other([&] { call(1, 1001); });
  call(0, 1000);
}

TEST_F(RingOfTwo, does_not_take_a_sparse_vector_for_a_dense_one) {
  auto rings = connect_both();
  std::vector<float> vector(64, 1.0f);
  const std::jthread other(
      [&] { EXPECT_FALSE(rings[1]->allreduce(of(vector), Clock::now() + 10s)); });
  const auto sum = rings[0]->sparse_allreduce(sparse_of({}, {}, 64), Clock::now() + 10s);
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error().code, Error::Code::mismatch);
}

TEST_F(RingOfTwo, says_how_many_parts_came) {
  auto rings = connect_both();
  EXPECT_FALSE(rings[1]->sparse_allreduce(sparse_of({}, {}, 64), Clock::now()));
  const auto sum = rings[0]->sparse_allreduce(sparse_of({}, {}, 64), Clock::now() + soon);
  ASSERT_FALSE(sum);
  EXPECT_THAT(sum.error().message,
              AllOf(HasSubstr("sparse_allreduce did not finish within its deadline of 0.2 s: "),
                    HasSubstr("rank 1 had sent 0 of 2 parts of the vector")));
}

// Behind an announcement of five pieces comes a header.
TEST_F(RingOfTwo, says_that_what_came_is_no_part_of_the_vector) {
  const auto relay = slow_down(100, 0ms, 0ms, 5);
  auto rings = connect_both();
  const std::jthread other(
      [&] { EXPECT_FALSE(rings[1]->sparse_allreduce(sparse_of({}, {}, 64), Clock::now() + 1s)); });
  const auto sum = rings[0]->sparse_allreduce(sparse_of({}, {}, 64), Clock::now() + 10s);
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error().code, Error::Code::mismatch);
  EXPECT_THAT(sum.error().message, HasSubstr("rank 1 sent what cannot be a part of this vector"));
}

// 64 elements behind an announcement of 20 bytes: 69 pieces.
TEST_F(RingOfTwo, goes_on_as_long_as_bytes_come) {
  const auto relay = slow_down(100, 50ms);
  auto rings = connect_both();
  std::vector<float> ones(64, 1.0f);
  std::vector<float> twos(64, 2.0f);
  const std::jthread other([&] { EXPECT_TRUE(rings[1]->reduce(of(ones), 0, Clock::now() + 20s)); });
  const auto done = rings[0]->reduce(of(twos), 0, {never, 2s});
  EXPECT_TRUE(done) << message(done);
  EXPECT_EQ(twos, std::vector<float>(64, 3.0f));
}

TEST_F(RingOfTwo, says_that_nothing_came_for_too_long) {
  const auto relay = slow_down(15, 1ms);
  auto rings = connect_both();
  std::vector<float> ones(64, 1.0f);
  std::vector<float> twos(64, 2.0f);
  const std::jthread other([&] { EXPECT_TRUE(rings[1]->reduce(of(ones), 0, {never, 1s})); });
  const auto done = rings[0]->reduce(of(twos), 0, {never, 1s});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::Code::timeout);
  EXPECT_THAT(message(done), AllOf(HasSubstr("reduce made no progress for 1 s: "),
                                   HasSubstr("rank 1 had sent 40 of 256 bytes"),
                                   HasSubstr("TRIBUTARY_STALL_TIMEOUT")));
}

Buffers by_handler(std::vector<std::int32_t>& vector) {
  const auto bytes = std::as_writable_bytes(std::span(vector));
  return {bytes.data(), bytes.data(), vector.size(), wire::ElementType::i32,
          wire::handler_operator(5)};
}

TEST_F(RingOfTwo, combines_by_a_handler) {
  const tributary::test::LoadedHandler loaded(5, std::make_unique<tributary::test::OneLess>());
  auto rings = connect_both();
  std::vector<std::int32_t> twos(100, 2);
  std::vector<std::int32_t> threes(100, 3);
  const std::jthread other(
      [&] { EXPECT_TRUE(rings[1]->allreduce(by_handler(twos), Clock::now() + 10s)); });
  const auto done = rings[0]->allreduce(by_handler(threes), Clock::now() + 10s);
  EXPECT_TRUE(done) << message(done);
  EXPECT_EQ(threes, std::vector<std::int32_t>(100, 4));
}

// Lists are as long as a packet of 32 bytes, in place of one of 64.
TEST_F(RingOfTwo, handlers_combine_a_packet_of_the_size_that_was_found) {
  const tributary::test::LoadedHandler loaded(5, std::make_unique<tributary::test::BestOfLists>());
  constexpr std::size_t list = 8;
  auto rings = connect_both();
  std::vector<std::vector<std::int32_t>> values{falling_lists(0, 100, list),
                                                falling_lists(1, 100, list)};
  const auto expected = best_of(values, list);
  const std::jthread other([&] {
    rings[1]->cut_by(list * sizeof(std::int32_t));
    EXPECT_TRUE(rings[1]->allreduce(by_handler(values[1]), Clock::now() + 10s));
  });
  rings[0]->cut_by(list * sizeof(std::int32_t));
  const auto done = rings[0]->allreduce(by_handler(values[0]), Clock::now() + 10s);
  EXPECT_TRUE(done) << message(done);
  EXPECT_EQ(values[0], expected);
}

// The first half of rank 1's mark is different.
TEST_F(RingOfTwo, compares_the_marks_of_handlers) {
  const tributary::test::LoadedHandler loaded(5, std::make_unique<tributary::test::OneLess>());
  const auto relay = slow_down(7, 0ms, 0ms, 5);
  auto rings = connect_both();
  std::vector<std::int32_t> twos(100, 2);
  std::vector<std::int32_t> threes(100, 3);
  const std::jthread other(
      [&] { EXPECT_TRUE(rings[1]->reduce(by_handler(twos), 0, Clock::now() + 1s)); });
  const auto done = rings[0]->reduce(by_handler(threes), 0, Clock::now() + 10s);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::Code::mismatch);
  EXPECT_THAT(message(done), HasSubstr("rank 1 has another handler under number 5"));
}

}  // namespace
}  // namespace tributary::host::test
