// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <utility>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "control/protocol.h"
#include "system/file_descriptor.h"

namespace tributary::control {

// Says why a call brought no result.
struct CallError {
  enum class Kind { no_daemon, denied, timeout, failed };
  Kind kind = Kind::failed;
  std::string message;
  Failure failure;  // what the daemon said, if it said something
};

// This is a connection to a daemon. Calls block, each for at most the timeout.
class Client {
 public:
  static tl::expected<Client, CallError> connect(const std::string& path,
                                                 std::chrono::milliseconds timeout);
  // Connects to the daemon at `path` on another machine, by ssh as `user@host`: it runs
  // `tributaryctl relay` there. $TRIBUTARY_SSH is a shell command to be used instead of ssh.
  static tl::expected<Client, CallError> connect_over_ssh(const std::string& host,
                                                          const std::string& path,
                                                          std::chrono::milliseconds timeout);
  Client(Client&& other) noexcept;
  Client& operator=(Client&&) = delete;
  ~Client();

  tl::expected<nlohmann::json, CallError> call(const std::string& method, nlohmann::json params);
  int fd() const { return fd_.get(); }

 private:
  Client(FileDescriptor fd, std::chrono::milliseconds timeout, pid_t child = -1,
         std::string host = {})
      : fd_(std::move(fd)), timeout_(timeout), child_(child), host_(std::move(host)) {}
  tl::unexpected<CallError> closed();

  FileDescriptor fd_;
  std::chrono::milliseconds timeout_;
  pid_t child_ = -1;  // it relays to another machine
  std::string host_;  // the other machine
  std::uint64_t next_id_ = 1;
  bool gave_up_ = false;  // some call, whose reply may still come
  FrameDecoder decoder_{reply_bytes_max};
};

}  // namespace tributary::control
