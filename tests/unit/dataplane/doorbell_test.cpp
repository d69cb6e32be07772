// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/doorbell.h"

#include <array>
#include <chrono>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

#include "dataplane/mailbox.h"

namespace tributary::dataplane {
namespace {

using namespace std::chrono_literals;

// No test waits for as long as this.
constexpr Duration longest = 900ms;

class DoorbellTest : public ::testing::Test {
 protected:
  DoorbellTest() {
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends_.data()), 0);
    inputs_.reserve(2);
    inputs_.push_back({ends_[0], POLLIN, 0});
  }
  ~DoorbellTest() override {
    for (const int end : ends_) {
      close(end);
    }
  }
  // Returns whether an input ended the wait.
  bool wait(Duration limit) {
    bell_->expect();
    return bell_->wait(inputs_, limit);
  }

  std::unique_ptr<Doorbell> bell_ = std::move(*Doorbell::create());
  std::array<int, 2> ends_{};
  std::vector<pollfd> inputs_;
};

TEST_F(DoorbellTest, WhoRingsBetweenTheLookAndTheWaitEndsIt) {
  const auto began = std::chrono::steady_clock::now();
  for (int i = 0; i < 100; ++i) {
    bell_->expect();
    bell_->ring();
    EXPECT_FALSE(bell_->wait(inputs_, longest));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 100 * longest);
  EXPECT_EQ(inputs_.size(), 1u);
}

TEST_F(DoorbellTest, WhatIsLeftFromAnotherThreadEndsTheWait) {
  for (int i = 0; i < 100; ++i) {
    std::atomic<bool> is_left = false;
    const std::jthread other([&] {
      is_left = true;
      bell_->ring();
    });
    while (!is_left) {
      bell_->expect();
      if (!is_left) {
        wait(longest);
      }
    }
  }
}

TEST_F(DoorbellTest, NobodyIsToldWhereNobodyWaits) {
  bell_->ring();
  EXPECT_FALSE(wait(1ms));
  EXPECT_FALSE(bell_->wait(inputs_, 1ms)) << "the ring is over";
}

TEST_F(DoorbellTest, AnInputThatCanBeReadEndsTheWait) {
  EXPECT_FALSE(wait(1ms));
  ASSERT_EQ(write(ends_[1], "x", 1), 1);
  EXPECT_TRUE(wait(longest));
  EXPECT_TRUE(wait(longest)) << "it still can";
  inputs_[0].fd = -1;
  EXPECT_FALSE(wait(1ms)) << "it is passed over";
}

TEST_F(DoorbellTest, AMailboxRings) {
  Mailbox mailbox(bell_.get());
  std::jthread other([&] { EXPECT_TRUE(mailbox.run([](Time) {}, 30s)); });
  while (!mailbox.waiting()) {
    bell_->expect();
    if (!mailbox.waiting()) {
      bell_->wait(inputs_, longest);
    }
  }
  mailbox.serve(Time{});
  EXPECT_FALSE(mailbox.waiting());
}

}  // namespace
}  // namespace tributary::dataplane
