// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "control/protocol.h"

namespace tributary::control {

// Why a call brought no result.
struct CallError {
  enum class Kind { no_daemon, denied, timeout, failed };
  Kind kind = Kind::failed;
  std::string message;
  Failure failure;  // what the daemon said, if it said something
};

// A connection to a daemon. Calls block, each for at most the timeout.
class Client {
 public:
  static tl::expected<Client, CallError> connect(const std::string& path,
                                                 std::chrono::milliseconds timeout);
  Client(Client&& other) noexcept;
  Client& operator=(Client&&) = delete;
  ~Client();

  tl::expected<nlohmann::json, CallError> call(const std::string& method, nlohmann::json params);

 private:
  Client(int fd, std::chrono::milliseconds timeout) : fd_(fd), timeout_(timeout) {}

  int fd_ = -1;
  std::chrono::milliseconds timeout_;
  std::uint64_t next_id_ = 1;
  FrameDecoder decoder_{reply_bytes_max};
};

}  // namespace tributary::control
