// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/bfd_session.h"

#include <deque>
#include <tuple>

#include <gtest/gtest.h>

#include "unit/forwarding/start.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;
using wire::BfdDiagnostic;
using wire::BfdHeader;
using wire::BfdState;

// A packet of a neighbour whose discriminator is 7, and which asks for 100 ms in both directions.
BfdHeader from_neighbour(BfdState state, std::uint8_t flags = 0) {
  BfdHeader header;
  header.state_flags = static_cast<std::uint8_t>((static_cast<unsigned>(state) << 6) | flags);
  header.detect_multiplier = 3;
  header.my_discriminator = std::uint32_t{7};
  header.your_discriminator = std::uint32_t{1};
  header.desired_min_tx_us = std::uint32_t{100'000};
  header.required_min_rx_us = std::uint32_t{100'000};
  return header;
}

BfdSession in_state(BfdState state) {
  BfdSession session({100ms, 3}, 1, 42);
  if (state == BfdState::admin_down) {
    session.disable();
  }
  if (state == BfdState::init || state == BfdState::up) {
    session.receive(from_neighbour(BfdState::down), start);
  }
  if (state == BfdState::up) {
    session.receive(from_neighbour(BfdState::init), start);
  }
  EXPECT_EQ(session.state(), state);
  return session;
}

// Returns everything that must be sent by `now`.
std::vector<BfdHeader> sent(BfdSession& session, Time now) {
  std::vector<BfdHeader> packets;
  while (const auto packet = session.poll(now)) {
    packets.push_back(*packet);
    session.count_sent();
  }
  return packets;
}

// Drives the session alone from one deadline to the next, and returns the times at which it sent.
std::vector<Time> run(BfdSession& session, Time from, Time until) {
  std::vector<Time> times;
  for (Time now = from; now < until; now = std::max(now + 1us, session.deadline())) {
    session.expire(now);
    times.insert(times.end(), sent(session, now).size(), now);
  }
  return times;
}

struct Step {
  BfdState before;
  BfdState received;
  BfdState after;
};
class BfdTransition : public testing::TestWithParam<Step> {};

TEST_P(BfdTransition, IsThatOfTheStandard) {
  auto session = in_state(GetParam().before);
  session.receive(from_neighbour(GetParam().received), start);
  EXPECT_EQ(session.state(), GetParam().after);
}

constexpr auto A = BfdState::admin_down;
constexpr auto D = BfdState::down;
constexpr auto I = BfdState::init;
constexpr auto U = BfdState::up;
// RFC 5880, 6.2 and 6.8.6.
INSTANTIATE_TEST_SUITE_P(All, BfdTransition,
                         testing::Values(Step{D, A, D}, Step{D, D, I}, Step{D, I, U}, Step{D, U, D},
                                         Step{I, A, D}, Step{I, D, I}, Step{I, I, U}, Step{I, U, U},
                                         Step{U, A, D}, Step{U, D, D}, Step{U, I, U}, Step{U, U, U},
                                         Step{A, A, A}, Step{A, D, A}, Step{A, I, A},
                                         Step{A, U, A}));

// Two sessions, and a line between them with a delay of `delay`.
class Pair {
 public:
  explicit Pair(const BfdConfig& config = {100ms, 3}) : a(config, 11, 1), b(config, 22, 2) {}

  void run_until(Time end) {
    while (now < end) {
      for (auto* each : {&a, &b}) {
        each->expire(now);
        for (const auto& packet : sent(*each, now)) {
          line.emplace_back(now + delay, each == &a ? &b : &a, packet);
        }
      }
      Time next = std::min({end, a.deadline(), b.deadline()});
      if (!line.empty()) {
        next = std::min(next, std::get<0>(line.front()));
      }
      now = std::max(now + 1us, next);
      while (!line.empty() && std::get<0>(line.front()) <= now) {
        if (!cut) {
          std::get<1>(line.front())->receive(std::get<2>(line.front()), now);
        }
        line.pop_front();
      }
    }
  }

  BfdSession a;
  BfdSession b;
  Time now = start;
  Duration delay = 1ms;
  bool cut = false;
  std::deque<std::tuple<Time, BfdSession*, BfdHeader>> line;
};

TEST(BfdSession, TwoComeUpWithinAFewRoundTrips) {
  Pair pair;
  pair.run_until(start + 60ms);
  EXPECT_EQ(pair.a.state(), U);
  EXPECT_EQ(pair.b.state(), U);
  EXPECT_EQ(pair.a.remote_discriminator(), 22u);
  EXPECT_EQ(pair.a.remote_state(), U);
}

// Old packets of every kind are under way in both directions: without a pause between packets the
// two sessions would answer each other for ever.
TEST(BfdSession, OldNewsDiesOut) {
  for (const auto delay : {100us, 1000us, 30'000us}) {
    for (unsigned seed = 0; seed < 256; ++seed) {
      Pair pair;
      pair.delay = delay;
      pair.run_until(start + 2s);
      for (unsigned i = 0; i < 4; ++i) {
        const auto state = static_cast<BfdState>(1 + (seed >> (2 * i) & 3) % 3);
        const std::uint8_t flags = i % 2 == 0 ? BfdHeader::poll : 0;
        auto packet = from_neighbour(state, flags);
        packet.my_discriminator = std::uint32_t{i % 2 == 0 ? 22u : 11u};
        (i % 2 == 0 ? pair.a : pair.b).receive(packet, pair.now);
      }
      pair.run_until(pair.now + 5s);
      const auto before = pair.a.counters().sent + pair.b.counters().sent;
      ASSERT_EQ(pair.a.state(), U) << delay.count() << " us, seed " << seed;
      ASSERT_EQ(pair.b.state(), U);
      pair.run_until(pair.now + 1s);
      ASSERT_LE(pair.a.counters().sent + pair.b.counters().sent - before, 30u);
    }
  }
}

TEST(BfdSession, TheSlowerOfTwoIntervalsHolds) {
  Pair pair;
  pair.b.configure({400ms, 5});
  pair.run_until(start + 5s);
  EXPECT_EQ(pair.a.transmit_interval(), 400ms);
  EXPECT_EQ(pair.b.transmit_interval(), 400ms);
  EXPECT_EQ(pair.a.detection_time(), 5 * 400ms);  // the neighbour's multiplier
  EXPECT_EQ(pair.b.detection_time(), 3 * 400ms);
}

TEST(BfdSession, ACutIsNoticedWithinTheDetectionTimeAndMended) {
  Pair pair;
  pair.run_until(start + 2s);
  ASSERT_EQ(pair.a.detection_time(), 300ms);
  pair.cut = true;
  const auto cut_at = pair.now;
  while (pair.a.alive() && pair.now < cut_at + 1s) {
    pair.run_until(pair.now + 1ms);
  }
  EXPECT_LE(pair.now - cut_at, 302ms);
  EXPECT_GE(pair.now - cut_at, 199ms);
  EXPECT_EQ(pair.a.diagnostic(), BfdDiagnostic::detection_expired);
  EXPECT_EQ(pair.a.counters().failures, 1u);
  pair.run_until(pair.now + 5s);
  EXPECT_EQ(pair.a.remote_discriminator(), 0u);
  pair.cut = false;
  pair.run_until(pair.now + 1100ms);
  EXPECT_TRUE(pair.a.alive() && pair.b.alive());
  EXPECT_EQ(pair.a.state(), U);
}

TEST(BfdSession, ANeighbourThatStartsAgainIsDownAtOnceAndThenUp) {
  Pair pair;
  pair.run_until(start + 2s);
  pair.b = BfdSession({100ms, 3}, 33, 3);
  pair.line.clear();
  pair.run_until(pair.now + 1500us);
  EXPECT_EQ(pair.a.state(), D);
  EXPECT_EQ(pair.a.diagnostic(), BfdDiagnostic::neighbour_down);
  EXPECT_FALSE(pair.a.alive());
  pair.run_until(pair.now + 60ms);
  EXPECT_EQ(pair.a.state(), U);
  EXPECT_TRUE(pair.a.alive());
  EXPECT_EQ(pair.a.remote_discriminator(), 33u);
}

TEST(BfdSession, WhoNeverSpokeHasNotFailed) {
  auto session = in_state(D);
  run(session, start, start + 60s);
  EXPECT_TRUE(session.alive());
  session.receive(from_neighbour(D), start + 60s);  // and fell silent before it was up
  run(session, start + 60s, start + 70s);
  EXPECT_EQ(session.state(), D);
  EXPECT_TRUE(session.alive());
  EXPECT_EQ(session.counters().failures, 0u);
}

TEST(BfdSession, AdminDownIsNoFailure) {
  auto session = in_state(U);
  session.receive(from_neighbour(A), start);
  EXPECT_EQ(session.state(), D);
  EXPECT_TRUE(session.alive());
  session = in_state(U);
  run(session, start, start + 1s);
  EXPECT_FALSE(session.alive());
  session.receive(from_neighbour(A), start + 1s);
  EXPECT_TRUE(session.alive());
}

TEST(BfdSession, DisablingTellsTheNeighbour) {
  Pair pair;
  pair.run_until(start + 2s);
  pair.a.disable();
  pair.run_until(pair.now + 15ms);
  EXPECT_EQ(pair.b.state(), D);
  EXPECT_TRUE(pair.b.alive());
  pair.cut = true;
  pair.run_until(pair.now + 5s);
  EXPECT_TRUE(pair.b.alive());
}

TEST(BfdSession, SaysAtOnceThatSomethingBehindItIsCutOff) {
  Pair pair;
  pair.run_until(start + 2s);
  pair.a.set_cut_off(true);
  pair.run_until(pair.now + 12ms);
  EXPECT_TRUE(pair.b.neighbour_cut_off());
  EXPECT_EQ(pair.b.state(), U);
  EXPECT_TRUE(pair.b.alive());
  EXPECT_FALSE(pair.a.neighbour_cut_off());
  pair.a.set_cut_off(false);
  pair.run_until(pair.now + 12ms);
  EXPECT_FALSE(pair.b.neighbour_cut_off());
}

TEST(BfdSession, SaysAtOnceThatAQueueBehindItFillsUp) {
  Pair pair;
  pair.run_until(start + 2s);
  pair.a.set_crowded(true);
  pair.run_until(pair.now + 12ms);
  EXPECT_TRUE(pair.b.neighbour_crowded());
  EXPECT_FALSE(pair.b.neighbour_cut_off());
  EXPECT_EQ(pair.b.state(), U);
  EXPECT_TRUE(pair.b.alive());
  pair.a.set_cut_off(true);
  pair.run_until(pair.now + 12ms);
  EXPECT_TRUE(pair.b.neighbour_cut_off()) << "which is worse";
  EXPECT_FALSE(pair.b.neighbour_crowded());
  pair.a.set_cut_off(false);
  pair.a.set_crowded(false);
  pair.run_until(pair.now + 12ms);
  EXPECT_FALSE(pair.b.neighbour_crowded());
}

TEST(BfdSession, HurryDoesNotWaitForTheSlowTimer) {
  auto session = in_state(D);
  EXPECT_EQ(sent(session, start).size(), 1u);
  EXPECT_EQ(sent(session, start + 10ms).size(), 0u);
  session.hurry();
  EXPECT_EQ(sent(session, start + 10ms).size(), 1u);
}

TEST(BfdSession, SendsSlowlyUntilItIsUp) {
  auto session = in_state(D);
  const auto times = run(session, start, start + 20s);
  EXPECT_GE(times.size(), 20u);
  EXPECT_LE(times.size(), 28u);
}

TEST(BfdSession, JitterTakesUpToAQuarter) {
  auto session = in_state(U);
  Duration shortest = 1h;
  Duration longest{};
  Time last = start;
  sent(session, start);
  for (Time now = start; now < start + 60s; now += 1ms) {
    session.receive(from_neighbour(U), now);
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

TEST(BfdSession, WithAMultiplierOfOneJitterLeavesATenth) {
  BfdSession session({100ms, 1}, 1, 42);
  session.receive(from_neighbour(D), start);
  session.receive(from_neighbour(I), start);
  sent(session, start);
  Time last = start;
  for (Time now = start; now < start + 30s; now += 1ms) {
    session.receive(from_neighbour(U), now);
    if (!sent(session, now).empty()) {
      EXPECT_LE(now - last, 91ms);
      last = now;
    }
  }
}

TEST(BfdSession, AnswersAPollAtOnceWhateverTheTimerSays) {
  auto session = in_state(U);
  sent(session, start);
  session.receive(from_neighbour(U, BfdHeader::poll), start + 1ms);
  session.receive(from_neighbour(U), start + 1ms);
  EXPECT_LE(session.deadline(), start + 10ms);
  const auto answers = sent(session, start + 10ms);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_TRUE(answers[0].has(BfdHeader::final));
  EXPECT_FALSE(answers[0].has(BfdHeader::poll));
}

TEST(BfdSession, ALongIntervalDoesNotHoldBackAnswersAndNews) {
  BfdSession session({10s, 3}, 1, 42);
  session.receive(from_neighbour(D), start);
  EXPECT_EQ(sent(session, start).size(), 1u);
  session.receive(from_neighbour(I), start + 1ms);
  auto packets = sent(session, start + 10ms);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].state(), U);
  session.receive(from_neighbour(U, BfdHeader::poll), start + 11ms);
  packets = sent(session, start + 20ms);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_TRUE(packets[0].has(BfdHeader::final));
}

TEST(BfdSession, NewsThatChangesAllTheTimeIsToldOnceInTwoMilliseconds) {
  auto session = in_state(U);
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

TEST(BfdSession, PollsWhenItComesUpUntilItIsAnswered) {
  auto session = in_state(U);
  auto packets = sent(session, start);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_TRUE(packets[0].has(BfdHeader::poll));
  EXPECT_EQ(packets[0].desired_min_tx_us.value(), 100'000u);
  session.receive(from_neighbour(U), start);
  packets = sent(session, start + 100ms);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_TRUE(packets[0].has(BfdHeader::poll));
  session.receive(from_neighbour(U, BfdHeader::final), start + 100ms);
  packets = sent(session, start + 200ms);
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_FALSE(packets[0].has(BfdHeader::poll));
}

TEST(BfdSession, ALongerIntervalWaitsForThePollToBeAnswered) {
  auto session = in_state(U);
  session.receive(from_neighbour(U, BfdHeader::final), start);
  session.configure({500ms, 3});
  EXPECT_EQ(session.transmit_interval(), 100ms);
  const auto packets = sent(session, start);
  ASSERT_FALSE(packets.empty());
  EXPECT_TRUE(packets[0].has(BfdHeader::poll));
  EXPECT_EQ(packets[0].desired_min_tx_us.value(), 500'000u);
  session.receive(from_neighbour(U, BfdHeader::final), start);
  EXPECT_EQ(session.transmit_interval(), 500ms);
}

TEST(BfdSession, AShorterRequiredIntervalWaitsForThePollToBeAnswered) {
  auto session = in_state(U);
  session.receive(from_neighbour(U, BfdHeader::final), start);
  auto faster = from_neighbour(U);
  faster.desired_min_tx_us = std::uint32_t{10'000};
  session.receive(faster, start);
  session.configure({20ms, 3});
  EXPECT_EQ(session.detection_time(), 300ms);
  faster.state_flags = static_cast<std::uint8_t>(faster.state_flags | BfdHeader::final);
  session.receive(faster, start);
  EXPECT_EQ(session.detection_time(), 60ms);
}

TEST(BfdSession, ANeighbourThatWantsNothingGetsOnlyAnswers) {
  auto session = in_state(U);
  sent(session, start);
  auto deaf = from_neighbour(U);
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

TEST(BfdSession, DemandModeOfTheNeighbourEndsOurPeriodicPackets) {
  auto session = in_state(U);
  sent(session, start);
  session.receive(from_neighbour(U, BfdHeader::final | BfdHeader::demand), start);
  EXPECT_TRUE(sent(session, start + 250ms).empty());
}

TEST(BfdSession, WhoLooksLateLooksOnceMore) {
  auto session = in_state(U);
  session.expire(start + 2s);  // the process was stopped
  EXPECT_TRUE(session.alive());
  session.receive(from_neighbour(U), start + 2s + 1ms);  // was in the ring
  session.expire(start + 2s + 80ms);
  EXPECT_TRUE(session.alive());
  session.expire(start + 4s);
  EXPECT_TRUE(session.alive());
  session.expire(start + 4s + 74ms);
  EXPECT_TRUE(session.alive());
  session.expire(start + 4s + 75ms);
  EXPECT_FALSE(session.alive());
}

TEST(BfdSession, ExtremesOfEveryIntervalAreBorne) {
  for (const std::uint32_t us : {0u, 1u, 0xffffffffu}) {
    for (const std::uint8_t multiplier : {std::uint8_t{1}, std::uint8_t{255}}) {
      auto session = in_state(U);
      auto packet = from_neighbour(U);
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
