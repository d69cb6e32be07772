// SPDX-License-Identifier: BSD-3-Clause
// A session alone sends when it has to, by the clock or because it was asked.
#include "forwarding/bfd_session.h"
#include "unit/forwarding/bfd_packets.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;
using wire::BfdHeader;
using wire::BfdState;

TEST(BfdTiming, HurryDoesNotWaitForTheSlowTimer) {
  auto session = in_state(BfdState::down);
  EXPECT_EQ(sent(session, start).size(), 1u);
  EXPECT_EQ(sent(session, start + 10ms).size(), 0u);
  session.hurry();
  EXPECT_EQ(sent(session, start + 10ms).size(), 1u);
}

TEST(BfdTiming, SendsSlowlyUntilItIsUp) {
  auto session = in_state(BfdState::down);
  const auto times = run(session, start, start + 20s);
  EXPECT_GE(times.size(), 20u);
  EXPECT_LE(times.size(), 28u);
}

TEST(BfdTiming, JitterTakesUpToAQuarter) {
  auto session = in_state(BfdState::up);
  Duration shortest = 1h;
  Duration longest{};
  Time last = start;
  sent(session, start);
  for (Time now = start; now < start + 60s; now += 1ms) {
    session.receive(from_neighbour(BfdState::up), now);
    if (!sent(session, now).empty() && now > start) {
      shortest = std::min(shortest, now - last);
      longest = std::max(longest, now - last);
      last = now;
    }
  }
  EXPECT_GE(shortest, 75ms);
  EXPECT_LE(shortest, 78ms);
  EXPECT_LE(longest, 101ms);
  EXPECT_GE(longest, 98ms);
}

TEST(BfdTiming, WithAMultiplierOfOneJitterLeavesATenth) {
  BfdSession session({100ms, 1}, 1, 42);
  session.receive(from_neighbour(BfdState::down), start);
  session.receive(from_neighbour(BfdState::init), start);
  sent(session, start);
  Time last = start;
  for (Time now = start; now < start + 30s; now += 1ms) {
    session.receive(from_neighbour(BfdState::up), now);
    if (!sent(session, now).empty()) {
      EXPECT_LE(now - last, 91ms);
      last = now;
    }
  }
}

TEST(BfdTiming, AnswersAPollAtOnceWhateverTheTimerSays) {
  auto session = in_state(BfdState::up);
  sent(session, start);
  session.receive(from_neighbour(BfdState::up, BfdHeader::poll), start + 1ms);
  session.receive(from_neighbour(BfdState::up), start + 1ms);
  EXPECT_LE(session.deadline(), start + 10ms);
  const auto answers = sent(session, start + 10ms);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(answers[0].has(BfdHeader::final));
  EXPECT_FALSE(answers[0].has(BfdHeader::poll));
}

TEST(BfdTiming, ALongIntervalDoesNotHoldBackAnswersAndNews) {
  BfdSession session({10s, 3}, 1, 42);
  session.receive(from_neighbour(BfdState::down), start);
  EXPECT_EQ(sent(session, start).size(), 1u);
  session.receive(from_neighbour(BfdState::init), start + 1ms);
  auto packets = sent(session, start + 10ms);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].state(), BfdState::up);
  session.receive(from_neighbour(BfdState::up, BfdHeader::poll), start + 11ms);
  packets = sent(session, start + 20ms);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_TRUE(packets[0].has(BfdHeader::final));
}

TEST(BfdTiming, NewsThatChangesAllTheTimeIsToldOnceInTwoMilliseconds) {
  auto session = in_state(BfdState::up);
  sent(session, start);
  std::size_t told = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto now = start + i * 100us;
    session.set_crowded(i % 2 == 0);
    told += sent(session, now).size();
  }
  EXPECT_LE(told, 51u);
  EXPECT_GE(told, 45u);
}

TEST(BfdTiming, PollsWhenItComesUpUntilItIsAnswered) {
  auto session = in_state(BfdState::up);
  auto packets = sent(session, start);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_TRUE(packets[0].has(BfdHeader::poll));
  EXPECT_EQ(packets[0].desired_min_tx_us.value(), 100'000u);
  session.receive(from_neighbour(BfdState::up), start);
  packets = sent(session, start + 100ms);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_TRUE(packets[0].has(BfdHeader::poll));
  session.receive(from_neighbour(BfdState::up, BfdHeader::final), start + 100ms);
  packets = sent(session, start + 200ms);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_FALSE(packets[0].has(BfdHeader::poll));
}

TEST(BfdTiming, ALongerIntervalWaitsForThePollToBeAnswered) {
  auto session = in_state(BfdState::up);
  session.receive(from_neighbour(BfdState::up, BfdHeader::final), start);
  session.configure({500ms, 3});
  EXPECT_EQ(session.transmit_interval(), 100ms);
  const auto packets = sent(session, start);
  ASSERT_FALSE(packets.empty());
  EXPECT_TRUE(packets[0].has(BfdHeader::poll));
  EXPECT_EQ(packets[0].desired_min_tx_us.value(), 500'000u);
  session.receive(from_neighbour(BfdState::up, BfdHeader::final), start);
  EXPECT_EQ(session.transmit_interval(), 500ms);
}

TEST(BfdTiming, AShorterRequiredIntervalWaitsForThePollToBeAnswered) {
  auto session = in_state(BfdState::up);
  session.receive(from_neighbour(BfdState::up, BfdHeader::final), start);
  auto faster = from_neighbour(BfdState::up);
  faster.desired_min_tx_us = std::uint32_t{10'000};
  session.receive(faster, start);
  session.configure({20ms, 3});
  EXPECT_EQ(session.detection_time(), 300ms);
  faster.state_flags = static_cast<std::uint8_t>(faster.state_flags | BfdHeader::final);
  session.receive(faster, start);
  EXPECT_EQ(session.detection_time(), 60ms);
}

TEST(BfdTiming, ANeighbourThatWantsNothingGetsOnlyAnswers) {
  auto session = in_state(BfdState::up);
  sent(session, start);
  auto deaf = from_neighbour(BfdState::up);
  deaf.required_min_rx_us = std::uint32_t{0};
  session.receive(deaf, start);
  for (int i = 1; i < 20; ++i) {
    session.receive(deaf, start + i * 100ms);
    EXPECT_TRUE(sent(session, start + i * 100ms).empty());
  }
  deaf.state_flags = static_cast<std::uint8_t>(deaf.state_flags | BfdHeader::poll);
  session.receive(deaf, start + 2s);
  EXPECT_EQ(sent(session, start + 2s).size(), 1u);
}

TEST(BfdTiming, DemandModeOfTheNeighbourEndsOurPeriodicPackets) {
  auto session = in_state(BfdState::up);
  sent(session, start);
  session.receive(from_neighbour(BfdState::up, BfdHeader::final | BfdHeader::demand), start);
  EXPECT_TRUE(sent(session, start + 250ms).empty());
}

TEST(BfdTiming, ExtremesOfEveryIntervalAreBorne) {
  for (const std::uint32_t us : {0u, 1u, 0xffffffffu}) {
    for (const std::uint8_t multiplier : {std::uint8_t{1}, std::uint8_t{255}}) {
      auto session = in_state(BfdState::up);
      auto packet = from_neighbour(BfdState::up);
      packet.desired_min_tx_us = us;
      packet.required_min_rx_us = us;
      packet.detect_multiplier = multiplier;
      session.receive(packet, start);
      EXPECT_LE(run(session, start, start + 1s).size(), 15u);
    }
  }
}

}  // namespace
}  // namespace tributary::forwarding
