// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/mailbox.h"

#include <thread>

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

}  // namespace
}  // namespace tributary::dataplane
