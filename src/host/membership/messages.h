// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "host/rendezvous/messages.h"
#include "wire/endian.h"

namespace tributary::host {

// These messages go between the keeper of a world's memberships and the processes that are in it,
// or want to be, as docs/reference/wire/membership.md has it. Integers are big-endian.
inline constexpr std::uint32_t membership_magic = 0x5452494d;  // "TRIM"
inline constexpr std::uint16_t membership_version = 1;

// Says who comes. Of the options, the fields that all have to have alike count; rank and size of
// the world count only if this process founds the world.
struct [[gnu::packed]] MemberHello {
  wire::be32 magic{membership_magic};
  wire::be16 version{membership_version};
  wire::be16 joins;  // 1: it joins a world that exists; 0: it founds one
  RendezvousHello options;
};
static_assert(sizeof(MemberHello) == 136);

struct [[gnu::packed]] MemberGreeting {
  MemberHello hello;
  RendezvousNonce nonce{};
  RendezvousProof proof{};
};
static_assert(sizeof(MemberGreeting) == 200);

// Words go over a connection after the greeting.
enum class WordKind : std::uint16_t {
  // These go to the keeper.
  regroup = 1,  // RegroupWish
  share = 2,    // Epoch, and what all members of that membership are to have of this one
  // These go to a member.
  place = 3,      // MembershipPlace
  shares = 4,     // Epoch, and what each has shared, by rank
  waiting = 5,    // WaitingCount
  ended = 6,      // Epoch, and why that membership has ended, for people
  dismissed = 7,  // why the receiver is no member, for people; the last word
};

// A word has `bytes` bytes behind this header, and a proof behind them.
struct [[gnu::packed]] WordHeader {
  wire::be32 magic{membership_magic};
  wire::be16 version{membership_version};
  wire::be16 kind;
  wire::be32 sequence;  // from 0, on each connection each way
  wire::be32 bytes;
};
static_assert(sizeof(WordHeader) == 16);

struct [[gnu::packed]] Epoch {
  wire::be64 number;
};

struct [[gnu::packed]] RegroupWish {
  wire::be64 epoch;        // of the membership that is to end
  wire::be32 world_size;   // others are waited for until there are so many ranks
  wire::be32 patience_ms;  // but no longer than that
};
static_assert(sizeof(RegroupWish) == 16);

struct [[gnu::packed]] MembershipPlace {
  wire::be64 epoch;
  wire::be32 rank;
  wire::be32 world_size;
  wire::be32 newcomers;  // that were in no membership before
};
static_assert(sizeof(MembershipPlace) == 20);

struct [[gnu::packed]] WaitingCount {
  wire::be32 count;
};

inline constexpr std::size_t share_bytes_max = 1024;
// The longest word that a keeper hears, and the longest that it says: the shares of a whole world.
inline constexpr std::size_t word_to_keeper_bytes_max = sizeof(Epoch) + share_bytes_max;
inline constexpr std::size_t word_to_member_bytes_max = std::size_t{64} << 20;

}  // namespace tributary::host
