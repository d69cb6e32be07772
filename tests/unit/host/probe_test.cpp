// SPDX-License-Identifier: BSD-3-Clause
#include "host/probe.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "host/transport/tcp.h"
#include "unit/host/loopback.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

// Only says of which job it is: attempts of these tests do not use it.
class IdleRunner final : public Runner {
 public:
  IdleRunner() { job_.peers.resize(2); }
  Result<void> run(const Call& /*call*/, Deadline /*until*/) override { return {}; }
  void skip(const Call& /*call*/) override {}
  bool retaining() override { return false; }
  const Job& job() const override { return job_; }

 private:
  Job job_;
};

constexpr auto brief_patience = 40ms;
constexpr auto lateness_of_rank = 500ms;

using Attempts = std::array<Attempt, 2>;

// What each of two ranks finds out, between which the TCP ring works.
std::array<Observation, 2> observe_both(const Attempts& attempts, Duration with_patience) {
  std::array<Listener, 2> listeners;
  Meeting meeting;
  for (std::uint8_t rank = 0; rank < 2; ++rank) {
    const wire::Ipv4Address address(127, 0, 0, static_cast<std::uint8_t>(rank + 1));
    listeners[rank] = *listen_on({address, 0});
    meeting.job.peers.push_back({address, 0});
    meeting.ring.push_back(listeners[rank].local);
  }
  std::array<Observation, 2> seen;
  run_ranks(2, [&](std::uint32_t rank) {
    auto mine = meeting;
    mine.job.rank = rank;
    const auto until = Clock::now() + 60s;
    auto ring = *Ring::connect(mine, std::move(listeners[rank]), until);
    IdleRunner runner;
    seen[rank] =
        *observe(runner, ring, attempts[rank], until, {[] { return true; }, with_patience});
  });
  return seen;
}

TEST(Observations, WhoGaveUpBeforeOthersBeganTriesAgain) {
  std::atomic<bool> given_up = false;
  std::array<int, 2> tries{};
  const Attempts attempts{
      [&](Runner&, const Deadline&) -> Result<void> {
        given_up = true;
        given_up.notify_one();
        return ++tries[0] > 1 ? Result<void>() : fail(Error::Code::timeout, "rank 1 is late");
      },
      [&](Runner&, const Deadline&) -> Result<void> {
        given_up.wait(false);
        std::this_thread::sleep_for(lateness_of_rank);
        return ++tries[1] > 1 ? Result<void>() : fail(Error::Code::timeout, "rank 0 is away");
      }};
  for (const auto& seen : observe_both(attempts, brief_patience)) {
    EXPECT_EQ(seen.failed, 0u) << seen.reason;
  }
  EXPECT_EQ(tries, (std::array{2, 2}));
}

TEST(Observations, WhatFailsForAllAtOnceIsNotTriedAgain) {
  std::atomic<int> tries = 0;
  const Attempt refused = [&](Runner&, const Deadline&) -> Result<void> {
    ++tries;
    return fail(Error::Code::timeout, "nothing passes");
  };
  const auto seen = observe_both({refused, refused}, 1h);
  EXPECT_EQ(seen[0].failed, 2u);
  EXPECT_EQ(seen[1].reason, "nothing passes");
  EXPECT_EQ(tries, 2);
}

TEST(Observations, RanksThatAreAlwaysLateAreNotTriedForEver) {
  std::atomic<int> tries = 0;
  const Attempts attempts{[&](Runner&, const Deadline&) -> Result<void> {
                            ++tries;
                            return fail(Error::Code::timeout, "alone");
                          },
                          [&](Runner&, const Deadline&) -> Result<void> {
                            std::this_thread::sleep_for(lateness_of_rank);
                            return fail(Error::Code::timeout, "late");
                          }};
  EXPECT_EQ(observe_both(attempts, brief_patience)[0].failed, 2u);
  EXPECT_EQ(tries, 3);
}

}  // namespace
}  // namespace tributary::host::test
