// SPDX-License-Identifier: BSD-3-Clause
#include "host/transport/progress_thread.h"

#include <atomic>
#include <sys/eventfd.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tributary::host::test {
namespace {

using namespace std::chrono_literals;

// A target whose packets are writes to an eventfd.
class Letters final : public ProgressTarget {
 public:
  Letters() : box_(::eventfd(0, EFD_NONBLOCK)) {}

  void deliver() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(box_.get(), &one, sizeof one), 8);
  }
  bool wants_progress() const override { return needy; }
  void progress() override {
    ++tended;
    std::uint64_t count = 0;
    if (::read(box_.get(), &count, sizeof count) == sizeof count) {
      answered += static_cast<int>(count);
    }
  }
  Time next() const override { return due; }
  std::array<int, 2> descriptors() const override { return {box_.get(), box_.get()}; }

  // Not atomic: the progress thread's lock must do.
  bool needy = true;
  Time due = never;
  std::atomic<int> tended = 0;
  std::atomic<int> answered = 0;

 private:
  FileDescriptor box_;
};

bool eventually(const std::atomic<int>& value, int wanted) {
  for (const auto until = Clock::now() + 30s; Clock::now() < until;) {
    if (value >= wanted) {
      return true;
    }
    std::this_thread::sleep_for(1ms);
  }
  return false;
}

TEST(ProgressThread, AnswersOnlyWhileTheOwnerIsAway) {
  Letters letters;
  ProgressThread thread(letters);
  ASSERT_TRUE(thread.start());
  letters.deliver();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(letters.tended, 0);  // the owner is there to begin with

  thread.leave();
  EXPECT_TRUE(eventually(letters.answered, 1));
  letters.deliver();
  EXPECT_TRUE(eventually(letters.answered, 2));

  thread.enter();
  const auto before = letters.tended.load();
  letters.deliver();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(letters.tended, before);
  thread.leave();
  EXPECT_TRUE(eventually(letters.answered, 3));
}

TEST(ProgressThread, SleepsWhileThereIsNothingToDo) {
  Letters letters;
  letters.needy = false;
  ProgressThread thread(letters);
  ASSERT_TRUE(thread.start());
  thread.leave();
  letters.deliver();
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(letters.tended, 0);

  thread.enter();
  letters.needy = true;
  thread.leave();
  EXPECT_TRUE(eventually(letters.answered, 1));
  std::this_thread::sleep_for(50ms);
  EXPECT_LE(letters.tended, 3);
}

TEST(ProgressThread, LooksWhenItIsTime) {
  Letters letters;
  letters.due = Clock::now() + 30ms;
  ProgressThread thread(letters);
  ASSERT_TRUE(thread.start());
  thread.leave();
  EXPECT_TRUE(eventually(letters.tended, 2));
  EXPECT_GE(Clock::now(), letters.due);
  thread.enter();
}

// The thread does nothing while the owner is away for only a moment.
TEST(ProgressThread, LeavesABusyOwnerAlone) {
  Letters letters;
  ProgressThread thread(letters);
  ASSERT_TRUE(thread.start());
  int absences = 0;  // for longer than the thread waits
  for (int visit = 0; visit < 10'000; ++visit) {
    const auto left = Clock::now();
    thread.leave();
    thread.enter();
    absences += Clock::now() - left >= 2ms ? 1 : 0;
    letters.needy = visit % 2 == 0;
  }
  EXPECT_LE(letters.tended, absences);
}

// As somebody does who reads statistics all the time.
TEST(ProgressThread, IsNotKeptAwayByAnOwnerWhoOnlyLooks) {
  Letters letters;
  ProgressThread thread(letters);
  ASSERT_TRUE(thread.start());
  thread.leave();
  letters.deliver();
  for (const auto until = Clock::now() + 30s; letters.answered < 1 && Clock::now() < until;) {
    thread.enter();
    thread.leave(true);
    std::this_thread::sleep_for(200us);
  }
  EXPECT_EQ(letters.answered, 1);
  thread.enter();
}

TEST(ProgressThread, EndsWhateverItIsDoing) {
  for (int i = 0; i < 100; ++i) {
    Letters letters;
    letters.due = Clock::now() + 1ms;
    ProgressThread thread(letters);
    ASSERT_TRUE(thread.start());
    if (i % 2 == 0) {
      thread.leave();
      std::this_thread::sleep_for(i * 50us);
    }
  }
}

}  // namespace
}  // namespace tributary::host::test
