// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/carrier.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include <gtest/gtest.h>

#include "unit/host/two_on_a_ring.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

// A rank of a ring whose path carries packets up to a given length: others are lost, and so is the
// run.
class Narrow final : public Runner {
 public:
  Narrow(std::uint32_t path_mtu, const NetReducePlan& plan) : path_mtu_(path_mtu), plan_(plan) {
    job_.peers.resize(2);
  }

  Result<void> begin_run(const NetReducePlan& plan) {
    runs_.push_back(plan);
    plan_ = plan;
    is_over_ = false;
    return {};
  }
  Result<void> run(const Call& call, Deadline until) override {
    calls_.push_back(call);
    patience_ = until.due() - Clock::now();
    is_over_ |= call.buffers.bytes() != 0 && plan_.mtu > path_mtu_;
    return is_over_ ? fail(Error::Code::timeout, "too long") : Result<void>();
  }
  void skip(const Call& /*call*/) override {}
  bool retaining() override { return false; }
  const Job& job() const override { return job_; }

  const std::vector<Call>& calls() const { return calls_; }
  const std::vector<NetReducePlan>& runs() const { return runs_; }
  Duration patience() const { return patience_; }

 private:
  Job job_;
  std::uint32_t path_mtu_;
  NetReducePlan plan_;
  bool is_over_ = false;
  std::vector<Call> calls_;
  std::vector<NetReducePlan> runs_;  // but for the first
  Duration patience_{};
};

constexpr NetReducePlan plan_of(std::uint32_t mtu) {
  return {.ring = 9, .window = 2, .message_packets = 4, .mtu = mtu};
}

// A rank that nobody answers.
class Silent final : public Runner {
 public:
  Silent() { job_.peers.resize(2); }
  Result<void> run(const Call&, Deadline) override {
    return fail(Error::Code::timeout, "nobody answers");
  }
  void skip(const Call&) override {}
  bool retaining() override { return false; }
  const Job& job() const override { return job_; }

 private:
  Job job_;
};

struct Seen {
  Observation observation;
  NetReducePlan plan;
};

// Has two ranks with such paths look for packets that pass.
class ObservationOfARing : public testing::Test {
 protected:
  std::array<Seen, 2> observe(std::uint32_t mtu, std::array<std::uint32_t, 2> paths) {
    ranks_.clear();
    for (const auto path : paths) {
      ranks_.emplace_back(path, plan_of(mtu));
    }
    std::array<Seen, 2> seen;
    run_two_on_a_ring([&](std::uint32_t rank, Ring& ring, Time until) {
      auto& runner = ranks_[rank];
      seen[rank].plan = plan_of(mtu);
      seen[rank].observation = *observe_netreduce(
          seen[rank].plan, runner, ring,
          [&](const NetReducePlan& plan) { return runner.begin_run(plan); }, until);
    });
    return seen;
  }

  std::deque<Narrow> ranks_;
};

TEST_F(ObservationOfARing, BeginsWithABarrierAndTriesAFullMessage) {
  const auto seen = observe(256, {256, 256});
  EXPECT_EQ(seen[0].observation.failed, 0u);
  EXPECT_EQ(seen[0].plan.run, 0u);
  EXPECT_TRUE(ranks_[0].runs().empty());
  const auto& calls = ranks_[0].calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].collective, Collective::barrier);
  EXPECT_EQ(calls[1].collective, Collective::allreduce);
  constexpr std::size_t header = 32;
  EXPECT_EQ(calls[1].buffers.bytes(), 4 * (256 - wire::fingerprint_bytes) - header);
}

TEST_F(ObservationOfARing, ComesToTheLargestPathMtuThatPassesForAllRanks) {
  const auto seen = observe(4096, {1436, 4096});
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(seen[rank].observation.failed, 0u);
    EXPECT_EQ(seen[rank].plan.mtu, 1024u);
    const auto& runs = ranks_[rank].runs();
    ASSERT_EQ(runs.size(), 2u) << "a failure ends a run";
    EXPECT_EQ(runs[0].mtu, 2048u);
    EXPECT_EQ(runs[0].run, 1u);
    EXPECT_EQ(runs[1].mtu, 1024u);
    EXPECT_EQ(runs[1].run, 2u);
  }
  EXPECT_LE(ranks_[0].patience(), path_step_patience);
}

TEST_F(ObservationOfARing, EndsWithTheLeastPathMtuWhereNothingPasses) {
  const auto seen = observe(1024, {255, 4096});
  EXPECT_EQ(seen[1].observation.failed, 1u);
  EXPECT_EQ(seen[0].observation.reason, "too long");
  EXPECT_EQ(ranks_[1].runs().size(), 2u);
}

// Whoever does not answer at all is not searched for in smaller packets.
TEST_F(ObservationOfARing, DoesNotSearchWhereTheBarrierFails) {
  std::array ends{false, false};
  run_two_on_a_ring([&](std::uint32_t rank, Ring& ring, Time until) {
    Silent silent;
    auto plan = plan_of(1024);
    const auto seen = observe_netreduce(
        plan, silent, ring, [](const NetReducePlan&) { return Result<void>(); }, until);
    ends[rank] = seen->failed == 2 && plan.mtu == 1024;
  });
  EXPECT_TRUE(ends[0] && ends[1]);
}

}  // namespace
}  // namespace tributary::host::test
