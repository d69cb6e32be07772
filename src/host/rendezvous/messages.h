// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "wire/encapsulation.h"
#include "wire/endian.h"
#include "wire/ipv4.h"

namespace tributary::host {

inline constexpr std::uint32_t rendezvous_magic = 0x54524942;  // "TRIB"
inline constexpr std::uint16_t rendezvous_version = 5;

using RendezvousNonce = std::array<std::uint8_t, 32>;
// Of who sent it: that it knows the secret (Secret::prove). All 0 without one.
using RendezvousProof = std::array<std::uint8_t, 32>;

// The first word on every connection, rank 0's.
struct [[gnu::packed]] RendezvousWelcome {
  wire::be32 magic{rendezvous_magic};
  wire::be16 version{rendezvous_version};
  wire::be16 secret;  // 1: ranks have to prove that they know it
  RendezvousNonce nonce{};
};
static_assert(sizeof(RendezvousWelcome) == 40);

// A rank's queue pairs and memory (LinkEnd); all 0 without NetReduce.
struct [[gnu::packed]] RendezvousLink {
  wire::be32 send_qp;
  wire::be32 receive_qp;
  wire::be32 first_psn;
  wire::be32 key;
  wire::be64 memory;
  std::uint8_t device = 0;
  std::uint8_t unused[3] = {};
};
static_assert(sizeof(RendezvousLink) == 28);

// What every rank tells rank 0. Integers are big-endian.
struct [[gnu::packed]] RendezvousHello {
  wire::be32 magic{rendezvous_magic};
  wire::be16 version{rendezvous_version};
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;
  std::uint8_t preferences = 0;  // algorithm in the low half, fallback in the high one
  wire::be32 rank;
  wire::be32 world_size;
  wire::Ipv4Address address;
  wire::be16 canary_port;
  wire::be16 ring_port;
  wire::be32 payload_bytes;
  wire::be32 window;
  wire::be32 job;  // 0: rank 0 draws one
  // PANAMA; all 0 without.
  wire::be16 trees;
  wire::be16 quorum;
  std::uint8_t congestion_control = 0;
  std::uint8_t unused = 0;
  wire::be32 trees_crc;  // CRC-32 over their addresses
  // NetReduce; all 0 without.
  wire::be32 ring;
  wire::be16 message_window;
  wire::be16 message_packets;
  wire::be16 path_mtu;
  RendezvousLink link;
};
static_assert(sizeof(RendezvousHello) == 84);

struct [[gnu::packed]] RendezvousGreeting {
  RendezvousHello hello;
  RendezvousNonce nonce{};
  RendezvousProof proof{};
};
static_assert(sizeof(RendezvousGreeting) == 148);

// Begins everything that follows, in both directions. Behind it come `bytes`, and a proof: of what
// failed the reason; of an agreement RendezvousAgreement and one RendezvousPeer for each rank.
struct [[gnu::packed]] RendezvousReply {
  wire::be32 magic{rendezvous_magic};
  wire::be16 version{rendezvous_version};
  wire::be16 failed;
  wire::be32 bytes;
};
static_assert(sizeof(RendezvousReply) == 12);

struct [[gnu::packed]] RendezvousAgreement {
  wire::be32 job;
  std::array<std::uint8_t, 16> key{};
  wire::be32 payload_bytes;
  wire::be32 window;
};
static_assert(sizeof(RendezvousAgreement) == 28);

struct [[gnu::packed]] RendezvousPeer {
  wire::Ipv4Address address;
  wire::be16 canary_port;
  wire::be16 ring_port;
  RendezvousLink link;
};
static_assert(sizeof(RendezvousPeer) == 36);

}  // namespace tributary::host
