// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/admission.h"

#include <optional>

#include "fixture.h"

namespace tributary::canary {
namespace {

std::uint64_t key_of(std::uint32_t job, std::uint32_t id) {
  return (std::uint64_t{job} << 32) | id;
}

class AdmissionTest : public ::testing::Test {
 protected:
  AdmissionTest() { restart(config_with(64)); }

  void restart(const CanaryConfig& wanted) {
    config_ = wanted;
    blocks_.emplace(config_, PortIndex{4}, std::uint64_t{1});
    admission_.emplace(config_, *blocks_);
  }

  const std::uint64_t* refusal(std::uint32_t job, std::uint32_t id, PortIndex port = 0,
                               Time now = Time{}) {
    return admission_->refusal(key_of(job, id), blocks_->tenants.share_of(job, port), now);
  }
  // Returns a block that has sent its sum, or null where the newcomer goes to its leader.
  Descriptor* hold(std::uint32_t job, std::uint32_t id, PortIndex port = 0, Time now = Time{}) {
    if (refusal(job, id, port, now) != nullptr) {
      return nullptr;
    }
    auto* block = admission_->occupy(key_of(job, id), now, now + 1ms);
    if (block != nullptr) {
      block->share = blocks_->tenants.share_of(job, port);
      blocks_->tenants.take(block->share);
      blocks_->table.mark_sent(*block);
    }
    return block;
  }

  CanaryConfig config_;
  std::optional<BlockStore> blocks_;
  std::optional<Admission> admission_;
};

TEST_F(AdmissionTest, TellsWhichShareIsTaken) {
  auto config = config_with(64);
  config.job_quota = 2;
  config.port_quota = 3;
  restart(config);
  EXPECT_NE(hold(7, 0), nullptr);
  EXPECT_NE(hold(7, 1), nullptr);
  const auto& counters = admission_->counters();
  EXPECT_EQ(refusal(7, 2, 0), &counters.quota_job);
  EXPECT_NE(hold(8, 0), nullptr);
  EXPECT_EQ(refusal(9, 0, 0), &counters.quota_port);
  EXPECT_EQ(refusal(9, 0, 1), nullptr);
  EXPECT_EQ(counters.quota_job + counters.quota_port, 0u)
      << "counted by who sends it to the leader";
}

TEST_F(AdmissionTest, QuotaIsEasedByABlockThatNobodyHasComeBackFor) {
  auto config = config_with(64);
  config.job_quota = 1;
  restart(config);
  hold(7, 0);
  const Time old{config.reclaim_after};
  EXPECT_EQ(hold(7, 1, 0, old - 1ns), nullptr);
  EXPECT_EQ(admission_->counters().reclaimed, 0u);
  EXPECT_NE(hold(7, 1, 0, old), nullptr);
  EXPECT_EQ(admission_->counters().reclaimed, 1u);
  EXPECT_EQ(blocks_->tenants.held_by(blocks_->tenants.share_of(7, 0)), 1u);
}

TEST_F(AdmissionTest, CollisionTakesTheSlotOfWhatIsDead) {
  restart(config_with(1));
  hold(7, 0);
  const Time old{config_.reclaim_after};
  EXPECT_EQ(admission_->occupy(key_of(8, 5), old - 1ns, old), nullptr);
  EXPECT_NE(admission_->occupy(key_of(8, 5), old, old + 1ms), nullptr);
  EXPECT_EQ(blocks_->table.find(key_of(7, 0)), nullptr);
  EXPECT_EQ(admission_->occupy(key_of(9, 5), old + 1h, old + 2h), nullptr) << "it gathers";
  EXPECT_EQ(admission_->counters().reclaimed, 1u);
}

TEST_F(AdmissionTest, PartitionIsOneJobsAndInItALaterAttemptGoesFirst) {
  auto config = config_with(64);
  config.partitions = 1;
  restart(config);
  EXPECT_NE(hold(7, wire::canary_id(3, 0)), nullptr);
  EXPECT_EQ(refusal(8, 3, 0), &admission_->counters().partition_none);
  EXPECT_NE(hold(7, wire::canary_id(3, 1)), nullptr);
  EXPECT_EQ(admission_->counters().superseded, 1u);
  EXPECT_EQ(blocks_->table.in_use(), 1u);
}

}  // namespace
}  // namespace tributary::canary
