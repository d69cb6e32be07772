// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/clock.h"
#include "host/membership/messages.h"
#include "host/membership/words.h"

namespace tributary::host {

// Decides for a keeper who is in a world, and who waits to be, without I/O. A world is founded by
// as many ranks as it is said to have, and ends with its last member; the memberships of one world
// after the other are numbered through.
class Roster {
 public:
  using Id = std::uint64_t;  // of a connection
  struct Told {
    Id to = 0;
    Word word;  // after `dismissed` the connection is to end
  };

  // Somebody has come from that address, and is believed.
  void come(Id id, const MemberHello& hello, const std::string& address);
  // Returns false if what it said makes no sense.
  bool hear(Id id, const Word& word, Time now);
  // The connection has ended.
  void leave(Id id, Time now);
  // Returns when expire() has something to do.
  Time deadline() const { return wishes().until(); }
  void expire(Time now);

  // These return what is to be told, in this order, and lines for people, each of them once.
  std::vector<Told> take() { return std::exchange(told_, {}); }
  std::vector<std::string> take_lines() { return std::exchange(lines_, {}); }

 private:
  struct Newcomer {
    Id id = 0;
    std::string address;
    RendezvousHello options;
  };
  struct Wish {
    Time since;  // when it asked for the first time
    Duration patience{};
    std::uint32_t world_size = 0;
  };
  struct Member {
    Id id = 0;
    std::string address;
    std::optional<Wish> wish;                     // its wish to regroup, if it has asked
    std::optional<std::vector<std::byte>> share;  // of the exchange in this membership
  };
  using Seats = std::vector<std::optional<Member>>;  // by rank; empty: gone
  // Has what all that are left have asked for, taken together.
  struct Wishes {
    std::uint32_t count = 0;
    Time since = never;
    Duration patience{};
    std::uint32_t world_size = 0;

    Time until() const { return count == 0 ? never : since + patience; }
  };

  void found(Id id, const MemberHello& hello, const std::string& address);
  void wait_to_join(Newcomer newcomer);
  bool regroup(std::uint32_t rank, const RegroupWish& wish, Time now);
  bool share(Member& member, const Word& word);
  void lose(std::uint32_t rank, Time now);
  Wishes wishes() const;
  void decide(Time now);
  Seats next_seats();
  void install(Seats seats, std::uint32_t newcomers);
  void end_membership(const std::string& why, std::optional<std::uint32_t> caused_by);
  void end_world();
  void dismiss(Id id, const std::string& why);
  void tell(Id id, WordKind kind, std::vector<std::byte> body);
  void tell_who_waits();
  std::optional<std::uint32_t> rank_of(Id id) const;
  std::string seat_text(std::uint32_t rank) const;

  std::uint64_t epoch_ = 0;
  bool ended_ = false;  // that membership has; its members have been told
  Seats seats_;
  std::optional<RendezvousHello> options_;  // of rank 0 of those who founded the world
  std::map<std::uint32_t, Newcomer> founders_;
  std::uint32_t founders_wanted_ = 0;
  std::vector<Newcomer> waiting_;
  std::vector<Told> told_;
  std::vector<std::string> lines_;
};

}  // namespace tributary::host
