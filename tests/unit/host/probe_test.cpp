// SPDX-License-Identifier: BSD-3-Clause
#include "host/probe.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "unit/host/two_on_a_ring.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

// A runner that only has a job: attempts in these tests do not use it.
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

std::array<Observation, 2> observe_both(const Attempts& attempts, Duration with_patience) {
  std::array<Observation, 2> seen;
  run_two_on_a_ring([&](std::uint32_t rank, Ring& ring, Time until) {
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
