// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/bfd_session.h"

#include <deque>
#include <tuple>

#include "unit/forwarding/bfd_packets.h"

namespace tributary::forwarding {
namespace {

using namespace std::chrono_literals;
using wire::BfdDiagnostic;
using wire::BfdHeader;
using wire::BfdState;

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

}  // namespace
}  // namespace tributary::forwarding
