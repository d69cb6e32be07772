// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <poll.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/error.h"
#include "host/membership/roster.h"
#include "host/membership/words.h"
#include "host/rendezvous/secret.h"
#include "host/transport/tcp.h"
#include "system/file_descriptor.h"

namespace tributary::host {

// Where the ranks of an elastic world meet: holds its memberships, and a connection with everybody
// who is in it or waits to be. Takes no part in collectives. Connections that do not speak this
// protocol, or do not know the secret, are closed and forgotten.
class Keeper {
 public:
  using Say = std::function<void(const std::string& line)>;

  // Of an empty secret: everybody is believed.
  static Result<Keeper> at(const Endpoint& place, std::string_view secret, Say say);

  const Endpoint& place() const { return listener_.local; }
  // Looks up from its work at least every 200 ms, to see whether it is to stop.
  void serve(const std::function<bool()>& stops);

 private:
  struct Connection {
    Roster::Id id = 0;
    FileDescriptor fd;
    Time since;
    std::string address;
    RendezvousSession session;
    std::vector<std::byte> greeting;   // as much of it as has come
    std::optional<WordStream> stream;  // once it was greeted
    std::vector<std::byte> unsent;
    bool ends = false;  // when all is sent
    bool gone = false;
  };

  Keeper(Listener listener, const Secret& secret, Say say)
      : listener_(std::move(listener)), secret_(secret), say_(std::move(say)) {}

  void look();
  void accept_connections();
  void welcome(FileDescriptor fd);
  bool drop_oldest_stranger();
  void rest_from_callers();
  void hear(Connection& connection);
  void greet(Connection& connection);
  void listen_to(Connection& connection, wire::Bytes bytes);
  void turn_away(Connection& connection, const std::string& why);
  void send(Connection& connection);
  void tell_all();
  void reap();

  Listener listener_;
  Secret secret_;
  Say say_;
  Roster roster_;
  Roster::Id next_id_ = 1;
  std::vector<Connection> connections_;
  Time callers_from_{};  // until then nobody is let in, as there are no descriptors
  bool said_exhausted_ = false;
  std::vector<pollfd> polled_;
};

}  // namespace tributary::host
