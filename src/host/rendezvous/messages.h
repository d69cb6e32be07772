// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/encapsulation.h"
#include "wire/endian.h"
#include "wire/ipv4.h"

namespace tributary::host {

inline constexpr std::uint32_t rendezvous_magic = 0x54524942;  // "TRIB"
inline constexpr std::uint16_t rendezvous_version = 16;
inline constexpr auto install_the_same = "; install the same Tributary everywhere";

using RendezvousNonce = std::array<std::uint8_t, 32>;
// Shows that who sent it knows the secret (Secret::prove). Without a secret all of it is 0.
using RendezvousProof = std::array<std::uint8_t, 32>;

// Rank 0 sends this first on every connection.
struct [[gnu::packed]] RendezvousWelcome {
  wire::be32 magic{rendezvous_magic};
  wire::be16 version{rendezvous_version};
  wire::be16 secret;  // 1: ranks have to prove that they know it
  RendezvousNonce nonce{};
};
static_assert(sizeof(RendezvousWelcome) == 40);

// A text, with zeros behind it.
using RendezvousName = std::array<char, 16>;
// Precondition: there is room.
constexpr RendezvousName rendezvous_name(std::string_view text) {
  RendezvousName name{};
  std::copy_n(text.begin(), std::min(text.size(), name.size()), name.begin());
  return name;
}
inline std::string_view text_of(const RendezvousName& name) {
  const auto* const end = std::find(name.begin(), name.end(), '\0');
  return {name.data(), static_cast<std::size_t>(end - name.begin())};
}

// The other ranks need to know this of a rank's end of a protocol, which writes it.
using RendezvousEnd = std::array<std::byte, 28>;

// The most settings of a protocol that all ranks must have alike.
inline constexpr std::size_t rendezvous_settings_max = 8;

// The beginning that hellos of all versions have.
struct [[gnu::packed]] RendezvousHelloStart {
  wire::be32 magic;
  wire::be16 version;
  std::array<std::uint8_t, 2> of_the_version;
  wire::be32 rank;
};
static_assert(sizeof(RendezvousHelloStart) == 12);

inline constexpr std::uint32_t rendezvous_window_max = 65536;
// Payloads are a multiple of so many bytes.
inline constexpr std::uint32_t rendezvous_payload_bytes_min = 32;
// The most ranks of a world: `hosts` of the protocols' headers has 16 bits, and rank 65535 means
// none.
inline constexpr std::uint32_t rendezvous_ranks_max = 65534;

// Every rank tells this to rank 0. Integers are big-endian.
struct [[gnu::packed]] RendezvousHello {
  wire::be32 magic{rendezvous_magic};
  wire::be16 version{rendezvous_version};
  wire::Encapsulation encapsulation = wire::Encapsulation::udp;
  std::uint8_t fallback : 1 = 0;       // 1: an error
  std::uint8_t reproducible : 1 = 0;   // 1: sums are
  std::uint8_t never_doubles : 1 = 0;  // 1: hosts add short vectors round their ring, too
  std::uint8_t over_ipv6 : 1 = 0;      // 1: `address` is the end of an address of IPv6
  std::uint8_t unused : 4 = 0;
  wire::be32 rank;
  wire::be32 world_size;
  wire::Ipv4Address address;
  wire::be16 port;
  wire::be16 ring_port;
  wire::be32 payload_bytes;
  wire::be32 window;
  wire::be32 job;                                // 0: rank 0 draws one
  RendezvousName algorithm{};                    // that was asked for
  RendezvousName protocol{};                     // to which the following belongs
  wire::be32 settings[rendezvous_settings_max];  // Values::agreed(), and zeros behind
  RendezvousEnd end{};
};
static_assert(sizeof(RendezvousHello) == 128);

struct [[gnu::packed]] RendezvousGreeting {
  RendezvousHello hello;
  RendezvousNonce nonce{};
  RendezvousProof proof{};
};
static_assert(sizeof(RendezvousGreeting) == 192);

// Begins everything that follows, in both directions. Behind it come `bytes` bytes, and a proof.
// The bytes are the reason if something failed; in an agreement they are RendezvousAgreement and
// one RendezvousPeer for each rank.
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
  wire::be16 port;
  wire::be16 ring_port;
  RendezvousEnd end{};
};
static_assert(sizeof(RendezvousPeer) == 36);

}  // namespace tributary::host
