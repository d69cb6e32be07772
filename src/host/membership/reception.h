// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/clock.h"
#include "host/membership/messages.h"
#include "host/membership/roster.h"
#include "host/membership/words.h"
#include "host/rendezvous/secret.h"
#include "wire/cursor.h"

namespace tributary::host {

// Decides what a keeper says on its connections, from what it hears on them and when they end,
// without I/O. It has a roster, and for each connection a greeting and a stream of words.
class Reception {
 public:
  using Id = Roster::Id;
  struct Told {
    Id to = 0;
    std::vector<std::byte> bytes;
  };

  // Needs sodium_init().
  explicit Reception(std::string_view secret) : secret_(secret) {}

  // Somebody is connected. Ids are never used again.
  void welcome(Id id, const std::string& address);
  // Takes the next bytes from that connection.
  void hear(Id id, wire::Bytes bytes, Time now);
  // The connection has ended.
  void leave(Id id, Time now);
  // Returns when expire() has something to do.
  Time deadline() const { return roster_.deadline(); }
  void expire(Time now) { roster_.expire(now); }

  // Tells whether nobody knows yet who that is.
  bool is_stranger(Id id) const;
  // Tells whether the connection is to end once what it was told last is sent.
  bool is_dismissed(Id id) const;

  // These return what is to be sent, in this order, and lines for people, each of them once.
  std::vector<Told> take();
  std::vector<std::string> take_lines();

 private:
  struct Guest {
    std::string address;
    RendezvousSession session;
    std::vector<std::byte> greeting;   // as much of it as has come
    std::optional<WordStream> stream;  // once the process has greeted
    bool ends = false;
  };

  void greet(Id id, Guest& guest, Time now);
  void listen_to(Id id, Guest& guest, wire::Bytes bytes, Time now);
  void turn_away(Id id, Guest& guest, const std::string& why, Time now);
  void pass_on();

  Secret secret_;
  Roster roster_;
  std::map<Id, Guest> guests_;
  std::vector<Told> told_;
  std::vector<std::string> lines_;
};

}  // namespace tributary::host
