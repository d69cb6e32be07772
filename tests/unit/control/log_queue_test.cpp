// SPDX-License-Identifier: BSD-3-Clause
#include "control/log_queue.h"

#include <array>
#include <fcntl.h>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tributary::control {
namespace {

using namespace std::chrono_literals;

constexpr int page = 4096;

constexpr std::string_view missing = "missing ";

std::string missing_line(std::uint64_t count) {
  return std::string(missing) + std::to_string(count) + "\n";
}

// A pipe of one page, into which a queue of one page writes.
class LogQueueTest : public testing::Test {
 protected:
  LogQueueTest() {
    EXPECT_EQ(pipe2(ends_.data(), O_CLOEXEC), 0);
    EXPECT_GE(fcntl(ends_[1], F_SETPIPE_SZ, page), page);
    queue_ = std::make_unique<LogQueue>(ends_[1], page, missing_line);
  }
  ~LogQueueTest() override {
    queue_.reset();
    close(ends_[0]);  // a thread that still writes gets an error
  }
  // Reads until `count` messages have come or are reported missing; they are numbers from 0 on.
  void expect_all_accounted_for(std::uint64_t count) const {
    std::string text;
    std::uint64_t next = 0;
    while (next < count) {
      std::array<char, page> chunk{};
      const ssize_t size = read(ends_[0], chunk.data(), chunk.size());
      ASSERT_GT(size, 0) << "the log has ended";
      text.append(chunk.data(), static_cast<std::size_t>(size));
      for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
        if (text.starts_with(missing)) {
          next += std::stoull(text.substr(missing.size()));
        } else {
          ASSERT_EQ(text.substr(0, end), std::to_string(next));
          ++next;
        }
        text.erase(0, end + 1);
      }
    }
    EXPECT_EQ(next, count);
  }

  std::array<int, 2> ends_{};
  std::unique_ptr<LogQueue> queue_;
};

TEST_F(LogQueueTest, MessagesLeaveInTheirOrder) {
  for (int i = 0; i < 100; ++i) {
    queue_->push(std::to_string(i) + "\n");
  }
  expect_all_accounted_for(100);
  EXPECT_TRUE(queue_->written(10s));
}

TEST_F(LogQueueTest, NobodyWaitsForAReaderAndWhatIsMissingIsSaidInItsPlace) {
  const auto before = LogQueue::dropped_total();
  std::uint64_t pushed = 0;
  const auto push = [&](std::uint64_t count) {
    for (const auto end = pushed + count; pushed < end; ++pushed) {
      queue_->push(std::to_string(pushed) + "\n");
    }
  };
  push(100'000);
  EXPECT_FALSE(queue_->written(1ms));
  EXPECT_GT(LogQueue::dropped_total(), before + 90'000);
  expect_all_accounted_for(pushed);
  EXPECT_TRUE(queue_->written(10s));
}

}  // namespace
}  // namespace tributary::control
