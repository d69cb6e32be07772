// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <poll.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/error.h"
#include "host/membership/reception.h"
#include "host/transport/tcp.h"
#include "system/file_descriptor.h"

namespace tributary::host {

// The place where the ranks of an elastic world meet. It holds the world's memberships, and a
// connection with everybody who is in it or waits to be; it takes no part in collectives.
// Connections that do not speak this protocol, or do not know the secret, are closed and forgotten.
class Keeper {
 public:
  using Say = std::function<void(const std::string& line)>;

  // If the secret is empty, everybody is believed.
  static Result<Keeper> at(const Endpoint& place, std::string_view secret, Say say);

  const Endpoint& place() const { return listener_.local; }
  // Looks up from its work at least every 200 ms, to see whether it is to stop.
  void serve(const std::function<bool()>& stops);

 private:
  struct Connection {
    Reception::Id id = 0;
    FileDescriptor fd;
    Time since;
    std::vector<std::byte> unsent;
    bool gone = false;
  };

  Keeper(Listener listener, std::string_view secret, Say say)
      : listener_(std::move(listener)), reception_(secret), say_(std::move(say)) {}

  void look();
  void accept_connections();
  void welcome(FileDescriptor fd);
  bool drop_oldest_stranger();
  void rest_from_callers();
  void hear(Connection& connection);
  bool is_stranger(const Connection& connection) const;
  void send(Connection& connection);
  void tell_all();
  void reap();

  Listener listener_;
  Reception reception_;
  Say say_;
  Reception::Id next_id_ = 1;
  std::vector<Connection> connections_;
  Time callers_from_{};  // until then nobody is let in, as there are no descriptors
  bool said_exhausted_ = false;
  std::vector<pollfd> polled_;
};

}  // namespace tributary::host
