// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace tributary::control {

// The log goes out through a LogQueue. Whoever logs never waits: a thread of its own writes, and
// what does not fit while that waits is dropped and counted.
class LogQueue {
 public:
  // Returns the line that stands in the place of so many messages.
  using Notice = std::function<std::string(std::uint64_t missing)>;

  // `fd` is to stay open. Of what has not begun to leave, at most `capacity` bytes are kept.
  LogQueue(int fd, std::size_t capacity, Notice notice);
  // Waits for nothing: the thread ends when all is written, or with the process.
  ~LogQueue();
  LogQueue(const LogQueue&) = delete;
  LogQueue& operator=(const LogQueue&) = delete;

  // Takes a whole message, with the end of its line, from any thread.
  void push(std::string_view message);
  // Says whether everything has been written, at the latest after `timeout`.
  bool written(std::chrono::milliseconds timeout);
  // Counts those of all queues of this process.
  static std::uint64_t dropped_total();

 private:
  struct State;

  std::shared_ptr<State> state_;  // shared with the thread
};

}  // namespace tributary::control
