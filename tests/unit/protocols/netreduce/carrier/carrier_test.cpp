// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/carrier/carrier.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "unit/host/two_on_a_ring.h"

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

// A runner that carries vectors up to a given length.
class Narrow final : public Runner {
 public:
  explicit Narrow(std::size_t bytes_max) : bytes_max_(bytes_max) { job_.peers.resize(2); }

  Result<void> run(const Call& call, Deadline until) override {
    calls_.push_back(call);
    patience_ = until.due() - Clock::now();
    return call.buffers.bytes() <= bytes_max_ ? Result<void>()
                                              : fail(Error::Code::timeout, "too long");
  }
  void skip(const Call& /*call*/) override {}
  bool retaining() override { return false; }
  const Job& job() const override { return job_; }
  const std::vector<Call>& calls() const { return calls_; }
  Duration patience() const { return patience_; }

 private:
  Job job_;
  std::size_t bytes_max_;
  std::vector<Call> calls_;
  Duration patience_{};
};

std::array<Observation, 2> observe(std::array<Narrow, 2>& networks) {
  std::array<Observation, 2> seen;
  run_two_on_a_ring([&](std::uint32_t rank, Ring& ring, Time until) {
    seen[rank] = *observe_netreduce({9, 2, 4, 256}, networks[rank], ring, until);
  });
  return seen;
}

TEST(ObservationOfARing, BeginsWithABarrierAndTriesAFullMessage) {
  std::array networks{Narrow(4096), Narrow(4096)};
  EXPECT_EQ(observe(networks)[0].failed, 0u);
  const auto& calls = networks[0].calls();
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].collective, Collective::barrier);
  EXPECT_EQ(calls[1].collective, Collective::allreduce);
  constexpr std::size_t header = 32;
  EXPECT_EQ(calls[1].buffers.bytes(), 4 * (256 - wire::fingerprint_bytes) - header);
}

// A failure ends the run of the ring.
TEST(ObservationOfARing, WaitsInOneAttemptAsLongAsOthersDoInAll) {
  std::array networks{Narrow(4096), Narrow(4096)};
  run_two_on_a_ring([&](std::uint32_t rank, Ring& ring, Time until) {
    (void)observe_netreduce({9, 2, 4, 256}, networks[rank], ring, until, 8s);
  });
  EXPECT_GT(networks[0].patience(), 2 * 8s);
  EXPECT_LE(networks[0].patience(), 3 * 8s);
}

TEST(ObservationOfARing, SeesThatFullMessagesDoNotPass) {
  std::array networks{Narrow(4096), Narrow(100)};
  const auto seen = observe(networks);
  EXPECT_EQ(seen[0].failed, 1u);
  EXPECT_EQ(seen[1].failed, 1u);
  EXPECT_EQ(seen[1].reason, "too long");
}

}  // namespace
}  // namespace tributary::host::test
