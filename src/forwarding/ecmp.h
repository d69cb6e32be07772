// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/cursor.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/key.h"

namespace tributary::forwarding {

// Maps a 32-bit hash to 0..n-1 without a division: the high half of hash * n.
constexpr std::size_t pick(std::uint32_t hash, std::size_t n) {
  return static_cast<std::size_t>((std::uint64_t{hash} * n) >> 32);
}

// The 5-tuple hash that spreads flows over equal next hops. Seeded, or all switches of a fabric
// would choose alike and leave links idle. Fragments are hashed without ports, so that all of one
// datagram take one path.
class EcmpHash {
 public:
  explicit EcmpHash(std::uint64_t seed) : seed_(seed) {}

  // `l4`: what follows the IP header; may be short or empty.
  std::uint32_t operator()(const wire::Ipv4Header& ip, wire::Bytes l4) const;
  // The same of IPv6, with its flow label (RFC 6438); of what begins with extension headers,
  // without ports. `l4`: what follows the fixed header.
  std::uint32_t operator()(const wire::Ipv6Header& ip, wire::Bytes l4) const;
  // By the destination alone.
  std::uint32_t operator()(const wire::Ipv4Address& destination) const;

 private:
  std::uint64_t seed_;
};

// What a level of a fabric makes of the hash of block and leader that all of its switches are to
// choose by. What comes to a level was sorted by that hash below it, so one that reads the same
// bits leaves most of its links idle. A product with an odd number is the same hashes in another
// order; seed 0 leaves them as they are.
class LevelHash {
 public:
  explicit LevelHash(std::uint64_t seed)
      : factor_(seed == 0 ? 1 : static_cast<std::uint32_t>(wire::mix_key(seed, 0)) | 1) {}

  std::uint32_t operator()(std::uint32_t hash) const { return hash * factor_; }

 private:
  std::uint32_t factor_;
};

}  // namespace tributary::forwarding
