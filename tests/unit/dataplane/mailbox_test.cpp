// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/mailbox.h"

#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

TEST(Mailbox, TheCoreRunsTheAction) {
  Mailbox mailbox;
  std::atomic<bool> stop{false};
  std::thread core([&] {
    while (!stop) {
      mailbox.serve(Time(Duration(9)));
      std::this_thread::yield();
    }
  });
  Time seen{};
  std::thread::id ran_on;
  EXPECT_TRUE(mailbox.run(
      [&](Time now) {
        seen = now;
        ran_on = std::this_thread::get_id();
      },
      std::chrono::seconds(10)));
  EXPECT_EQ(seen, Time(Duration(9)));
  EXPECT_EQ(ran_on, core.get_id());
  stop = true;
  core.join();
}

TEST(Mailbox, AnActionThatTimedOutNeverRuns) {
  Mailbox mailbox;
  bool ran = false;
  EXPECT_FALSE(mailbox.run([&](Time) { ran = true; }, std::chrono::milliseconds(1)));
  mailbox.serve(Time{});
  EXPECT_FALSE(ran);
}

TEST(Mailbox, WhatWasPostedRunsHoweverLateTheCoreIs) {
  Mailbox mailbox;
  int taken_up = 0;
  mailbox.post([&](Time) { taken_up = 1; });
  EXPECT_FALSE(mailbox.settled(std::chrono::milliseconds(1)));
  EXPECT_FALSE(mailbox.run([&](Time) { taken_up = 9; }, std::chrono::milliseconds(1)))
      << "before what was posted";
  mailbox.serve(Time{});
  EXPECT_EQ(taken_up, 1);
  EXPECT_TRUE(mailbox.settled(std::chrono::milliseconds(0)));
}

TEST(Mailbox, WhatIsPostedTakesThePlaceOfWhatHasNotBegun) {
  Mailbox mailbox;
  std::vector<int> ran;
  mailbox.post([&](Time) { ran.push_back(1); });
  mailbox.post([&](Time) { ran.push_back(2); });
  mailbox.serve(Time{});
  mailbox.serve(Time{});
  EXPECT_EQ(ran, std::vector{2});
}

TEST(Mailbox, NothingIsPostedAmidstWhatHasBegun) {
  Mailbox mailbox;
  std::atomic<int> step{0};
  mailbox.post([&](Time) {
    step = 1;
    while (step != 2) {
      std::this_thread::yield();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    step = 3;
  });
  std::thread core([&] { mailbox.serve(Time{}); });
  while (step != 1) {
    std::this_thread::yield();
  }
  step = 2;
  mailbox.post([&](Time) { step = 4; });
  EXPECT_EQ(step, 3);
  mailbox.serve(Time{});
  EXPECT_EQ(step, 4);
  core.join();
}

}  // namespace
}  // namespace tributary::dataplane
