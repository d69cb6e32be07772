// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/patience.h"

#include <gtest/gtest.h>

namespace tributary::canary {
namespace {

using namespace std::chrono_literals;

constexpr wire::Ipv4Address leader_address{10, 0, 0, 1};

class PatienceTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t job = 7;

  // Returns how long a block waits that is not the only one of its job.
  Duration timeout() const {
    return patience_.timeout(false, false, patience_.expectation(job, leader_address));
  }
  // A block of four hosts whose last contribution came so long after the first.
  static Descriptor block(std::uint32_t contributions, Duration spread, std::uint32_t attempt = 0) {
    Descriptor made;
    made.key = (std::uint64_t{job} << 32) | wire::canary_id(5, attempt);
    made.shape.leader = leader_address;
    made.shape.hosts = 4;
    made.counter = contributions;
    made.last = made.born + spread;
    return made;
  }

  CanaryConfig config_;
  Patience patience_{config_};
};

TEST_F(PatienceTest, OfAJobThatIsNotKnownIsAMillisecond) {
  EXPECT_EQ(timeout(), 1ms);
  config_.timeout_max = 300us;
  EXPECT_EQ(timeout(), 300us);
}

TEST_F(PatienceTest, SettingsGoBeforeWhatIsLearned) {
  EXPECT_EQ(patience_.timeout(true, true, {}), config_.root_timeout);
  EXPECT_EQ(patience_.timeout(false, true, {}), config_.timeout_min);
  config_.timeout = 3ms;
  EXPECT_EQ(patience_.timeout(false, true, {}), 3ms);
  EXPECT_EQ(patience_.timeout(true, true, {}), config_.root_timeout);
  EXPECT_EQ(patience_.timeout_of(block(1, 0us), true), 3ms);
}

TEST_F(PatienceTest, BlocksTeachTheirNumberAndTheirSpread) {
  patience_.learn(block(2, 200us));
  EXPECT_EQ(patience_.expectation(job, leader_address).contributions, 2u);
  EXPECT_EQ(timeout(), 200us + 4 * 100us);
  EXPECT_EQ(patience_.timeout_of(block(1, 0us), false), timeout());
  EXPECT_EQ(patience_.expectation(job + 1, leader_address).contributions, 0u);
}

TEST_F(PatienceTest, AnotherAttemptTeachesItsNumberOnly) {
  patience_.learn(block(2, 200us));
  const auto before = timeout();
  patience_.learn(block(3, 40ms, 1));
  EXPECT_EQ(patience_.expectation(job, leader_address).contributions, 3u);
  EXPECT_EQ(timeout(), before);
  patience_.learn_late(block(3, 40ms, 1));
  EXPECT_EQ(timeout(), before);
}

TEST_F(PatienceTest, WhatCameTooLateIsWaitedForFromNowOn) {
  patience_.learn(block(2, 200us));
  auto of_root = block(3, 40ms);
  of_root.root = true;
  patience_.learn_late(of_root);
  EXPECT_LT(timeout(), 1ms);
  patience_.learn_late(block(3, 5ms));
  EXPECT_GE(timeout(), 5ms);
  patience_.learn_late(block(3, 10s));
  EXPECT_EQ(timeout(), config_.timeout_max) << "and not for longer than that";
}

TEST_F(PatienceTest, WhereNumbersAreLearnedSpreadsAreRememberedForLonger) {
  const auto after = [](bool learn_contributions) {
    CanaryConfig config;
    config.learn_contributions = learn_contributions;
    Patience patience(config);
    patience.learn(block(2, 5ms));
    for (int i = 0; i < 32; ++i) {
      patience.learn(block(2, 100us));
    }
    return patience.timeout(false, false, patience.expectation(job, leader_address));
  };
  EXPECT_GT(after(true), 2 * after(false));
}

}  // namespace
}  // namespace tributary::canary
