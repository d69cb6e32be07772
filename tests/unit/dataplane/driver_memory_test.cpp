// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/driver_memory.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <sys/mman.h>
#include <thread>

#include <gtest/gtest.h>

namespace tributary::dataplane {
namespace {

constexpr std::size_t length = 4096;

void* some_memory() {
  void* memory = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return memory;
}

// Unmaps on a thread of its own, as DPDK does.
class Unmapping {
 public:
  Unmapping() : thread_([this] { done_ = munmap(memory_, length) == 0; }) {}
  ~Unmapping() { thread_.join(); }
  bool done_within(std::chrono::milliseconds time) const {
    const auto end = std::chrono::steady_clock::now() + time;
    while (!done_ && std::chrono::steady_clock::now() < end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return done_;
  }

 private:
  void* memory_ = some_memory();
  std::atomic<bool> done_{false};
  std::thread thread_;
};

constexpr std::chrono::milliseconds a_while{50};
constexpr std::chrono::seconds for_ever{30};

TEST(DriverMemory, StaysUntilTheUserIsBetweenTwoBursts) {
  const DriverUser user(3);
  const Unmapping unmapping;
  EXPECT_FALSE(unmapping.done_within(a_while));
  user.between_bursts();
  EXPECT_TRUE(unmapping.done_within(for_ever));
}

TEST(DriverMemory, StaysUntilAllUsersAreBetweenTwoBursts) {
  const DriverUser first(0);
  const DriverUser second(1);
  const Unmapping unmapping;
  first.between_bursts();
  EXPECT_FALSE(unmapping.done_within(a_while));
  first.between_bursts();
  second.between_bursts();
  EXPECT_TRUE(unmapping.done_within(for_ever));
}

TEST(DriverMemory, GoesWhenTheUserHasEnded) {
  auto user = std::make_unique<DriverUser>(0);
  const Unmapping unmapping;
  EXPECT_FALSE(unmapping.done_within(a_while));
  user.reset();
  EXPECT_TRUE(unmapping.done_within(for_ever));
}

TEST(DriverMemory, GoesAtLastWhenTheUserHangs) {
  const DriverUser user(0);
  const Unmapping unmapping;
  EXPECT_TRUE(unmapping.done_within(for_ever));
}

// Whoever waits for a user that does not come waits for a second; so often takes long enough to
// tell on a machine that does much else, too.
constexpr int unmappings = 20;
constexpr std::chrono::seconds with_waiting{10};

TEST(DriverMemory, AUserDoesNotWaitForItself) {
  const DriverUser user(0);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < unmappings; ++i) {
    EXPECT_EQ(munmap(some_memory(), length), 0);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, with_waiting);
}

TEST(DriverMemory, NobodyWaitsForAUserThatIsAway) {
  const DriverUser user(0);
  user.leave();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < unmappings; ++i) {
    const Unmapping unmapping;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, with_waiting);
  user.come_back();
  const Unmapping unmapping;
  EXPECT_FALSE(unmapping.done_within(a_while));
  user.between_bursts();
  EXPECT_TRUE(unmapping.done_within(for_ever));
}

}  // namespace
}  // namespace tributary::dataplane
