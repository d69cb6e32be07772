// SPDX-License-Identifier: BSD-3-Clause
#include "host/membership/member.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <poll.h>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../loopback.h"
#include "../ports.h"
#include "host/communicator.h"
#include "host/membership/keeper.h"
#include "host/object_bytes.h"
#include "host/rendezvous/bootstrap.h"
#include "host/setup.h"
#include "host/transport/tcp.h"

// Tests a member beside others that break the protocol, and with false keepers.
namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const wire::Ipv4Address loopback(127, 0, 0, 1);

Time soon() {
  return Clock::now() + 10s;
}

class LoneMembers : public testing::Test {
 protected:
  ~LoneMembers() override { stops_ = true; }

  CommunicatorOptions options_of(std::uint32_t process, Membership membership) const {
    auto options = options_on_loopback(process, 1, keeper_.place().port);
    options.rank = 0;
    options.algorithm = "canary";  // the loopback has no switch that aggregates
    options.membership = membership;
    options.join_timeout = 20s;
    return options;
  }
  Communicator found() const {
    return std::move(*Communicator::create(options_of(0, Membership::elastic)));
  }
  // Returns a process that joins, and does what the test says.
  std::shared_ptr<Member> stranger(const Communicator& member) const {
    MemberHello hello;
    hello.joins = 1;
    hello.options = hello_of(options_of(1, Membership::join));
    auto came = *Member::come(keeper_.place(), hello, Secret(""), soon());
    for (const auto until = soon(); member.membership().waiting == 0 && Clock::now() < until;) {
      std::this_thread::sleep_for(5ms);
    }
    return came;
  }
  static void expect_a_sum_over(Communicator& member, std::uint32_t ranks) {
    ASSERT_EQ(member.world_size(), ranks);
    std::int32_t value = 1;
    const auto done = member.allreduce(std::span(&value, 1));
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(value, static_cast<std::int32_t>(ranks));
  }

  std::atomic<bool> stops_ = false;
  Keeper keeper_ = *Keeper::at({loopback, 0}, "", [](const auto&) {});
  std::jthread serving_{[this] { keeper_.serve([this] { return stops_.load(); }); }};
};

TEST_F(LoneMembers, RegroupAgainAfterAMembershipThatDidNotComeToBe) {
  auto member = found();
  auto other = stranger(member);
  std::jthread nonsense([&] {
    ASSERT_TRUE(other->place_after(0, soon()));
    EXPECT_TRUE(other->exchange(2, std::vector<std::byte>(256), soon()));
  });
  const auto failed = member.regroup();
  nonsense.join();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Error::Code::rendezvous);
  EXPECT_THAT(failed.error().message, HasSubstr("membership 2 did not come to be"));
  other.reset();
  auto next = member.regroup();
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->membership().epoch, 3u);
  expect_a_sum_over(*next, 1);
}

TEST_F(LoneMembers, WaitForAnotherOneInThePlaceOfWhoIsGoneWhileTheyMeet) {
  auto member = found();
  auto other = stranger(member);
  const std::jthread in_its_place([&] {
    ASSERT_TRUE(other->place_after(0, soon()));
    other.reset();
    auto another = Communicator::create(options_of(2, Membership::join));
    ASSERT_TRUE(another) << another.error().message;
    expect_a_sum_over(*another, 2);
  });
  auto next = member.regroup(2);
  ASSERT_TRUE(next) << next.error().message;
  expect_a_sum_over(*next, 2);
}

TEST_F(LoneMembers, AreNotToWaitForMoreThanAWorldCanHave) {
  auto member = found();
  const auto next = member.regroup(~0u);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().code, Error::Code::invalid_argument);
  EXPECT_FALSE(member.membership().ended);
  expect_a_sum_over(member, 1);
}

// Any thread may abort them; this test is for the sanitizers.
TEST_F(LoneMembers, MayBeAbortedWhileTheyRegroup) {
  run_ranks(2, [&](std::uint32_t rank) {
    auto options = options_of(rank, Membership::elastic);
    options.rank = rank;
    options.world_size = 2;
    auto member = Communicator::create(options);
    ASSERT_TRUE(member) << member.error().message;
    std::atomic<bool> done = false;
    const std::jthread aborting([&] {
      while (!done) {
        member->abort();
        (void)member->membership();
      }
    });
    const auto next = member->regroup();
    done = true;
    if (!next) {  // it may have been faster
      EXPECT_EQ(next.error().code, Error::Code::aborted) << next.error().message;
    }
  });
}

class AbortedMembers : public LoneMembers {
 protected:
  // Expects that a regroup ends that waits for so many members, which do not come, or do not meet
  // it.
  void expect_regroup_to_end(std::uint32_t world_size) {
    auto member = found();
    auto other = stranger(member);
    Time aborted{};
    const std::jthread aborting([&] {
      std::this_thread::sleep_for(300ms);
      aborted = Clock::now();
      member.abort();
    });
    const auto next = member.regroup(world_size);
    EXPECT_LT(Clock::now() - aborted, 1s);
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().code, Error::Code::aborted) << next.error().message;
    const auto again = member.regroup();
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().code, Error::Code::aborted) << again.error().message;
  }
};

TEST_F(AbortedMembers, WaitNoLongerForOthersToRegroup) {
  expect_regroup_to_end(3);
}

TEST_F(AbortedMembers, WaitNoLongerForOthersToMeet) {
  expect_regroup_to_end(2);
}

// A member that ends when all know its address, before it has connected to others or others to it.
class GoneWhileTheyMeet : public LoneMembers {
 protected:
  static void tell_where_it_is_and_go(std::shared_ptr<Member> member, std::uint64_t epoch,
                                      CommunicatorOptions options, std::uint32_t rank) {
    options.membership = Membership::fixed;
    options.rank = rank;
    options.world_size = 2;
    const auto made = Bootstrap::create(options, 2, [&](const void* in, void*, std::size_t bytes) {
      const wire::Bytes share(static_cast<const std::byte*>(in), bytes);
      EXPECT_TRUE(member->exchange(epoch, share, soon()));
      return false;
    });
    EXPECT_FALSE(made);
  }
  static constexpr auto at_once = 4s;  // below the deadline
};

TEST_F(GoneWhileTheyMeet, AnotherRankIsNotWaitedForByRank0) {
  auto member = found();
  auto other = stranger(member);
  const std::jthread going([&] {
    ASSERT_TRUE(other->place_after(0, soon()));
    tell_where_it_is_and_go(std::move(other), 2, options_of(1, Membership::join), 1);
  });
  const auto began = Clock::now();
  auto next = member.regroup();
  EXPECT_LT(Clock::now() - began, at_once);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->membership().epoch, 3u);
  expect_a_sum_over(*next, 1);
}

TEST_F(GoneWhileTheyMeet, Rank0IsNotWaitedForByOthers) {
  const std::jthread going([&] {
    auto options = options_of(0, Membership::elastic);
    options.world_size = 2;
    MemberHello hello;
    hello.options = hello_of(options);
    auto first = *Member::come(keeper_.place(), hello, Secret(""), soon());
    ASSERT_TRUE(first->place_after(0, soon()));
    tell_where_it_is_and_go(std::move(first), 1, options, 0);
  });
  auto options = options_of(1, Membership::elastic);
  options.rank = 1;
  options.world_size = 2;
  const auto began = Clock::now();
  auto left = Communicator::create(options);
  EXPECT_LT(Clock::now() - began, at_once);
  ASSERT_TRUE(left) << left.error().message;
  expect_a_sum_over(*left, 1);
}

// A keeper does this when it has many strangers' connections, or when it is ending.
TEST(Members, ComeAgainWhenTheyAreClosedOut) {
  const Endpoint place{loopback, next_ports()};
  std::jthread keeping([&] {
    const auto listener = *listen_on(place);
    EXPECT_TRUE(accept_until(listener, soon()));
    const auto again = *accept_until(listener, soon());
    RendezvousWelcome welcome;
    welcome.magic = membership_magic;
    welcome.version = membership_version;
    EXPECT_TRUE(send_all(again.get(), bytes_of(welcome), soon()));
    MemberGreeting greeting;
    EXPECT_TRUE(receive_all(again.get(), writable_bytes_of(greeting), soon()));
  });
  const auto member = Member::come(place, {}, Secret(""), soon());
  EXPECT_TRUE(member) << member.error().message;
}

TEST(Members, BelieveNoPlaceThatThereCannotBe) {
  for (const auto& [rank, size] : {std::pair{0u, ~0u}, std::pair{2u, 2u}, std::pair{0u, 0u}}) {
    const Endpoint place{loopback, next_ports()};
    const std::jthread keeping([&, rank = rank, size = size] {
      const auto guest = *accept_until(*listen_on(place), soon());
      RendezvousWelcome welcome;
      welcome.magic = membership_magic;
      welcome.version = membership_version;
      EXPECT_TRUE(send_all(guest.get(), bytes_of(welcome), soon()));
      MemberGreeting greeting;
      EXPECT_TRUE(receive_all(guest.get(), writable_bytes_of(greeting), soon()));
      WordStream words(Secret(""), {welcome.nonce, greeting.nonce}, WordStream::End::keeper);
      const MembershipPlace told{wire::be64{1}, wire::be32{rank}, wire::be32{size}, wire::be32{0}};
      EXPECT_TRUE(send_all(guest.get(), words.write({WordKind::place, body_of(told)}), soon()));
      (void)wait_for(guest.get(), POLLRDHUP, soon());
    });
    const auto member = *Member::come(place, {}, Secret(""), soon());
    const auto found = member->place_after(0, soon());
    ASSERT_FALSE(found);
    EXPECT_THAT(found.error().message, HasSubstr("a rank that there cannot be"));
  }
}

}  // namespace
}  // namespace tributary::host::test
