// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/tenants.h"

#include "fixture.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/drop_reasons.h"

namespace tributary::canary {
namespace {

using Verdict = Tenants::Verdict;

Tenants tenants_of(const CanaryConfig& config) {
  return Tenants(config, config.descriptors, 4, 1);
}

CanaryConfig quotas(std::uint32_t job, std::uint32_t port) {
  CanaryConfig config = config_with(4096);
  config.job_quota = job;
  config.port_quota = port;
  return config;
}

TEST(Tenants, QuotasAreMetByTakingAndEasedByGiving) {
  auto tenants = tenants_of(quotas(3, 5));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(tenants.judge(tenants.share_of(7, 0)), Verdict::within);
    tenants.take(tenants.share_of(7, 0));
  }
  EXPECT_EQ(tenants.judge(tenants.share_of(7, 0)), Verdict::job_met);
  EXPECT_EQ(tenants.judge(tenants.share_of(8, 0)), Verdict::within);
  tenants.take(tenants.share_of(8, 0));
  tenants.take(tenants.share_of(9, 0));
  EXPECT_EQ(tenants.judge(tenants.share_of(10, 0)), Verdict::port_met);
  EXPECT_EQ(tenants.judge(tenants.share_of(10, 1)), Verdict::within);
  tenants.give(tenants.share_of(7, 0));
  EXPECT_EQ(tenants.judge(tenants.share_of(7, 0)), Verdict::within);
}

// With any number of jobs none holds more than its quota, and a job within its quota is hardly ever
// taken for another.
TEST(Tenants, NoJobEscapesItsQuotaAmongThousands) {
  auto tenants = tenants_of(quotas(16, 4096));
  int refused = 0;
  for (std::uint32_t job = 0; job < 1000; ++job) {
    tenants.take(tenants.share_of(job * 7919, 0));
  }
  for (std::uint32_t job = 1'000'000; job < 1'000'100; ++job) {
    for (int i = 0; i < 16; ++i) {
      refused += tenants.judge(tenants.share_of(job, 1)) == Verdict::within ? 0 : 1;
      tenants.take(tenants.share_of(job, 1));
    }
    ASSERT_EQ(tenants.judge(tenants.share_of(job, 1)), Verdict::job_met);
  }
  EXPECT_LE(refused, 16);
}

TEST(Tenants, DefaultsAreAShareOfTheTable) {
  EXPECT_EQ(Tenants::default_quota(4096), 1024u);
  EXPECT_EQ(Tenants::default_quota(128), 64u);
  EXPECT_EQ(Tenants::default_quota(16), 16u);
}

TEST(Tenants, ListedJobHasItsOwnQuotaAndPorts) {
  auto config = quotas(2, 100);
  config.jobs = {{7, {3, 1}, 4}, {5, {}, 0}};
  auto tenants = tenants_of(config);
  EXPECT_TRUE(tenants.may_speak(7, 1));
  EXPECT_TRUE(tenants.may_speak(7, 3));
  EXPECT_FALSE(tenants.may_speak(7, 2));
  EXPECT_TRUE(tenants.may_speak(5, 2));
  EXPECT_TRUE(tenants.may_speak(6, 2));
  EXPECT_TRUE(tenants.is_listed(5));
  EXPECT_FALSE(tenants.is_listed(6));
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(tenants.judge(tenants.share_of(7, 1)), Verdict::within);
    tenants.take(tenants.share_of(7, 1));
  }
  EXPECT_EQ(tenants.judge(tenants.share_of(7, 1)), Verdict::job_met);
}

CanarySpec packet_of(std::uint32_t job, std::uint32_t id, PortIndex port = 0) {
  auto spec = worker(0);
  spec.job = job;
  spec.id = id;
  spec.ingress = port;
  return spec;
}

class TenancyTest : public CanaryTest {
 protected:
  // Begins that many blocks; returns how many went past the table.
  std::size_t flood(std::uint32_t job, std::uint32_t blocks, PortIndex port,
                    bool new_jobs = false) {
    std::size_t bypassed = 0;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      for (const auto& departure : feed(packet_of(new_jobs ? job + i : job, i, port), Ints{1})) {
        EXPECT_TRUE(Seen(departure).header().bypass());
        ++bypassed;
      }
    }
    return bypassed;
  }
};

TEST_F(TenancyTest, JobThatMetItsQuotaIsBypassedAndOthersAreNot) {
  auto config = config_with(64);
  config.job_quota = 8;
  restart(config);
  EXPECT_EQ(flood(1, 20, 0), 12u);
  EXPECT_EQ(harness->figure("quota_job_total"), 12u);
  EXPECT_EQ(harness->figure("collisions_total"), 0u);
  EXPECT_EQ(flood(2, 8, 0), 0u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 16u);
}

TEST_F(TenancyTest, FloodOfNewJobsFromOnePortMeetsThePortsQuota) {
  auto config = config_with(1024);
  config.job_quota = config.port_quota = 0;
  restart(config);
  EXPECT_EQ(flood(1000, 5000, 3, true), 5000u - 256u);
  EXPECT_EQ(harness->figure("quota_port_total"), 5000u - 256u);
  EXPECT_EQ(flood(1, 64, 4), 0u) << "other ports are not touched";
}

TEST_F(TenancyTest, ResultGivesBackWhatTheBlockHeld) {
  auto config = config_with(64);
  config.job_quota = 1;
  config.port_quota = 1;
  restart(config);
  for (std::uint32_t id = 0; id < 10; ++id) {
    EXPECT_TRUE(feed(packet_of(1, id), Ints{1}).empty());
    EXPECT_EQ(feed(as_result(packet_of(1, id)), Ints{1}).size(), 1u);
  }
  EXPECT_EQ(harness->figure("quota_job_total"), 0u);
}

TEST_F(TenancyTest, AgeGivesBackWhatTheBlockHeld) {
  auto config = config_with(64);
  config.port_quota = 4;
  restart(config);
  EXPECT_EQ(flood(1, 5, 0, true), 1u);
  harness->expire(Time{1ms});
  harness->expire(Time{5s});
  EXPECT_EQ(flood(100, 4, 0, true), 0u);
}

TEST_F(TenancyTest, JobSpeaksOnItsPortsOnly) {
  auto config = config_with(64);
  config.jobs = {{7, {0, 2}, 0}};
  restart(config);
  EXPECT_TRUE(feed(packet_of(7, 1, 2), Ints{1}).empty());
  expect_drop(test::make_canary(pool, packet_of(7, 2, 1), Ints{1}), drop::not_allowed);
  auto marked = packet_of(7, 3, 1);
  marked.bypass = true;
  expect_drop(test::make_canary(pool, marked, Ints{1}), drop::not_allowed);
  EXPECT_TRUE(feed(packet_of(8, 1, 1), Ints{1}).empty());
  EXPECT_EQ(harness->figure("descriptors_in_use"), 2u);
}

// Otherwise a stranger could answer for the leader.
TEST_F(TenancyTest, WhatGoesDownTheTreeComesByTheJobsPortsToo) {
  auto config = config_with(64);
  config.jobs = {{7, {0, 7}, 0}};
  restart(config);
  feed(packet_of(7, 1), Ints{1});
  for (const auto kind : {wire::CanaryKind::result, wire::CanaryKind::release,
                          wire::CanaryKind::restoration, wire::CanaryKind::pending}) {
    auto forged = as_result(packet_of(7, 1));
    forged.kind = kind;
    forged.ingress = 3;
    if (kind == wire::CanaryKind::release || kind == wire::CanaryKind::pending) {
      forged.counter = 0;
    }
    const auto data = kind == wire::CanaryKind::release ? Ints{} : Ints{1};
    expect_drop(test::make_canary(pool, forged, data), drop::not_allowed);
  }
  EXPECT_EQ(harness->figure("descriptors_in_use"), 1u);
  EXPECT_EQ(feed(as_result(packet_of(7, 1)), Ints{1}).size(), 1u);
}

// Older blocks of another job do not prevent it.
TEST_F(TenancyTest, QuotaFullOfDeadBlocksHealsWhateverIsInFront) {
  auto config = config_with(64);
  config.job_quota = 4;
  restart(config);
  EXPECT_EQ(flood(2, 3, 1), 0u);
  EXPECT_EQ(flood(1, 4, 0), 0u);
  harness->expire(Time{1ms});
  EXPECT_EQ(feed(packet_of(1, 100), Ints{1}, Time{400ms}).size(), 1u) << "not dead yet";
  EXPECT_TRUE(feed(packet_of(1, 100), Ints{1}, Time{500ms}).empty());
  EXPECT_EQ(harness->figure("reclaimed_total"), 1u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 7u);
}

TEST_F(TenancyTest, PortsQuotaIsHealedByBlocksOfThatPort) {
  auto config = config_with(64);
  config.port_quota = 2;
  restart(config);
  EXPECT_EQ(flood(1, 1, 1), 0u);
  feed(packet_of(2, 1, 0), Ints{1});
  feed(packet_of(3, 1, 0), Ints{1});
  harness->expire(Time{1ms});
  EXPECT_TRUE(feed(packet_of(1, 9, 0), Ints{1}, Time{500ms}).empty());
  EXPECT_EQ(harness->figure("reclaimed_total"), 1u);
}

TEST_F(TenancyTest, ReloadChangesQuotasAndCountsWhatIsHeld) {
  EXPECT_EQ(flood(1, 10, 0), 0u);
  auto config = config_with(64);
  config.job_quota = 10;
  ASSERT_TRUE(engine->reconfigure(config));
  EXPECT_EQ(feed(packet_of(1, 100), Ints{1}).size(), 1u);
  EXPECT_EQ(harness->figure("quota_job_total"), 1u);
  feed(as_result(packet_of(1, 3)), Ints{1});
  EXPECT_TRUE(feed(packet_of(1, 100), Ints{1}).empty());
}

TEST_F(TenancyTest, PartitionsServeTheFirstJobsAndBypassTheNext) {
  auto config = config_with(64);
  config.partitions = 2;
  restart(config);
  EXPECT_EQ(flood(1, 32, 0), 0u);
  EXPECT_EQ(flood(2, 31, 0), 0u);
  EXPECT_EQ(flood(3, 5, 0), 5u);
  EXPECT_EQ(harness->figure("partition_none_total"), 5u);
  EXPECT_EQ(harness->figure("collisions_total"), 0u);
  harness->expire(Time{1ms});
  harness->expire(Time{5s});
  EXPECT_TRUE(feed(packet_of(3, 9), Ints{1}, Time{5s}).empty()) << "given back";
}

TEST_F(TenancyTest, LaterAttemptTakesTheSlotOfAnEarlierOneInItsPartition) {
  auto config = config_with(8);
  config.partitions = 1;
  restart(config);
  const auto first = wire::canary_id(5, 0);
  const auto second = wire::canary_id(5, 1);
  EXPECT_TRUE(feed(packet_of(1, first), Ints{1}).empty());
  EXPECT_TRUE(feed(packet_of(1, second), Ints{1}).empty());
  EXPECT_EQ(harness->figure("superseded_total"), 1u);
  EXPECT_EQ(harness->figure("descriptors_in_use"), 1u);
  EXPECT_EQ(feed(packet_of(1, first), Ints{1}).size(), 1u) << "late: past the table";
  EXPECT_EQ(feed(packet_of(1, wire::canary_id(13, 2)), Ints{1}).size(), 1u) << "another block";
  EXPECT_EQ(harness->figure("collisions_total"), 2u);
}

}  // namespace
}  // namespace tributary::canary
