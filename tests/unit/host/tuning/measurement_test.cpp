// SPDX-License-Identifier: BSD-3-Clause
#include "host/tuning/measurement.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../loopback.h"
#include "host/rendezvous/rendezvous.h"
#include "host/ring/sizes.h"
#include "host/transport/tcp.h"
#include "host/tuning/plan.h"

namespace tributary::host::tuning::test {
namespace {

using namespace std::chrono_literals;
using host::test::run_ranks;
using testing::HasSubstr;

// A runner that takes a given time, and fails when told to.
class Carrier final : public Runner {
 public:
  using Run = std::function<Result<void>(const Call& call, const Deadline& until)>;

  Carrier(Job job, Run run) : job_(std::move(job)), run_(std::move(run)) {}

  Result<void> run(const Call& call, Deadline until) override {
    ++calls_;
    return run_(call, until);
  }
  void skip(const Call& /*call*/) override { ++calls_; }
  bool retaining() override { return false; }
  const Job& job() const override { return job_; }
  // The number of calls, as other ranks count them.
  int calls() const { return calls_; }

 private:
  Job job_;
  Run run_;
  int calls_ = 0;
};

class Measuring : public testing::Test {
 protected:
  static constexpr std::uint32_t ranks = 3;

  Measuring() {
    meeting_.job.payload_bytes = 1408;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const wire::Ipv4Address address(127, 0, 0, static_cast<std::uint8_t>(rank + 1));
      listeners_.push_back(*listen_on({address, 0}));
      meeting_.job.peers.push_back({address, 17000});
      meeting_.ring.push_back(listeners_.back().local);
    }
  }

  // Measures on all ranks, and checks that they can add up over their ring afterwards.
  void measure_with(const std::function<Carrier::Run(std::uint32_t rank)>& carrier_of,
                    Duration allowed, Duration patience = 20s) {
    measured_.resize(ranks);
    calls_.resize(ranks);
    run_ranks(ranks, [&](std::uint32_t rank) {
      auto meeting = meeting_;
      meeting.job.rank = rank;
      const auto until = Clock::now() + 20s;
      auto ring = Ring::connect(meeting, std::move(listeners_[rank]), until);
      ASSERT_TRUE(ring) << ring.error().message;
      Carrier carrier(meeting.job, carrier_of(rank));
      measured_[rank] = measure(carrier, *ring, allowed, Clock::now() + patience);
      calls_[rank] = carrier.calls();
      expect_a_sum(*ring, until);
    });
  }
  static void expect_a_sum(Ring& ring, Time until) {
    std::vector<float> vector(4, 1);
    auto* const bytes = std::as_writable_bytes(std::span(vector)).data();
    const auto done =
        ring.allreduce({bytes, bytes, 4, wire::ElementType::f32, wire::Operator::sum}, until);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(vector, std::vector<float>(4, ranks));
  }

  Meeting meeting_;
  std::vector<Listener> listeners_;
  std::vector<Result<Measurement>> measured_;
  std::vector<int> calls_;
};

Carrier::Run taking(Duration time) {
  return [=](const Call&, const Deadline&) -> Result<void> {
    std::this_thread::sleep_for(time);
    return {};
  };
}

TEST_F(Measuring, AllRanksMeasureTheSame) {
  measure_with([](std::uint32_t rank) { return taking(rank * 1ms); }, 2s);
  ASSERT_TRUE(measured_[0]) << measured_[0].error().message;
  const auto& first = *measured_[0];
  EXPECT_EQ(first.failure, "");
  EXPECT_GT(first.taken, 1ms);
  for (const auto means : {Means::carrier, Means::doubling, Means::ring}) {
    EXPECT_FALSE(first.costs.measured(means).empty()) << name(means, "carrier");
  }
  EXPECT_GE(first.costs.time(Means::carrier, 8), 1ms) << "the mean of 0, 1 and 2 ms";
  for (const auto& measured : measured_) {
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->text("carrier"), first.text("carrier"));
    EXPECT_EQ(Plan(measured->costs).text("carrier"), Plan(first.costs).text("carrier"));
  }
}

// Three threads on a busy machine exchange 8 bytes in far less than that.
TEST_F(Measuring, WhereTheCarrierIsSlowHostsCarry) {
  measure_with([](std::uint32_t) { return taking(1s); }, 4s);
  ASSERT_TRUE(measured_[0]) << measured_[0].error().message;
  EXPECT_TRUE(Plan(measured_[0]->costs).by_hosts(8));
}

TEST_F(Measuring, TheLeastTimeOfAllRanksCounts) {
  measure_with([](std::uint32_t) { return taking(1ms); }, 0ms);
  for (const auto& measured : measured_) {
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->taken, 0ms);
    EXPECT_EQ(calls_[0], 0);
  }
}

// All ranks take part in its allreduces, so the others wait in them, but not until the ranks'
// deadline; all know that it failed, and count the same number of calls.
TEST_F(Measuring, ACarrierThatFailsForOneRankIsNotMeasured) {
  std::atomic<bool> failed = false;
  const auto carrier_of = [&](std::uint32_t rank) -> Carrier::Run {
    return [&failed, rank](const Call& call, const Deadline& until) -> Result<void> {
      if (call.buffers.bytes() < 4096) {
        return {};
      }
      if (rank == 1) {
        failed = true;
        return fail(Error::Code::network, "its cable is out");
      }
      std::this_thread::sleep_until(until.due());
      return fail(Error::Code::timeout, "nothing came");
    };
  };
  const auto began = Clock::now();
  measure_with(carrier_of, 2s, 1s);
  EXPECT_LT(Clock::now() - began, 900ms) << "half of what there is";
  EXPECT_TRUE(failed);
  for (const auto& measured : measured_) {
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->taken, 0ms);
    EXPECT_TRUE(measured->costs.measured(Means::doubling).empty());
    EXPECT_THAT(measured->failure, HasSubstr("it failed for 3 of 3 ranks"));
  }
  EXPECT_THAT(measured_[1]->failure, HasSubstr("its cable is out"));
  EXPECT_EQ(calls_, std::vector<int>(ranks, 2 * 3)) << "two trials";
}

}  // namespace
}  // namespace tributary::host::tuning::test
