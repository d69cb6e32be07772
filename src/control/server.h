// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <tl/expected.hpp>

#include "control/backend.h"

namespace tributary::control {

struct ServerOptions {
  std::string socket = "/run/tributary/control.sock";
  std::string group;  // owner of the socket beside the user; empty: unchanged
  // A message that is not whole, or a reply that is not taken, after this long costs the client its
  // connection; so does silence for `idle_timeout`.
  std::chrono::milliseconds message_timeout = std::chrono::seconds(5);
  std::chrono::milliseconds idle_timeout = std::chrono::minutes(5);
  // run_once() also returns when this can be read, which is left to its owner; -1: none.
  int wake_fd = -1;
};

// Serves the control protocol on a Unix stream socket (docs/reference/control-protocol.md). It is
// single-threaded: the owner calls run_once() in its loop, and the backend is called from there.
// Everything is bounded: clients, message size, time.
class Server {
 public:
  static constexpr std::size_t clients_max = 16;

  // Makes the socket (and the directory it lies in, if missing), with mode 0660. It replaces what a
  // dead daemon left behind; a live daemon's socket is refused. `backend` outlives the server.
  static tl::expected<std::unique_ptr<Server>, std::string> create(const ServerOptions& options,
                                                                   Backend& backend);
  // Gives replies a moment to leave, closes, removes the socket.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Waits up to `timeout` for something to happen and handles all that has.
  void run_once(std::chrono::milliseconds timeout);

 private:
  class Implementation;
  explicit Server(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace tributary::control
