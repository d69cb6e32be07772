// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/cursor.h"
#include "wire/ip_address.h"
#include "wire/ipv4.h"
#include "wire/ipv6.h"
#include "wire/key.h"

namespace tributary::forwarding {

// Maps a 32-bit hash to 0..n-1 without a division: the high half of hash * n.
constexpr std::size_t pick(std::uint32_t hash, std::size_t n) {
  return static_cast<std::size_t>((std::uint64_t{hash} * n) >> 32);
}

// The 5-tuple hash spreads flows over equal next hops. It is seeded, or all switches of a fabric
// would choose alike and leave links idle. Fragments are hashed without ports, so that all of one
// datagram take one path.
class EcmpHash {
 public:
  explicit EcmpHash(std::uint64_t seed) : seed_(seed) {}

  // `l4` is what follows the IP header; it may be short or empty.
  std::uint32_t operator()(const wire::Ipv4Header& ip, wire::Bytes l4) const;
  // The hash of IPv6 has the flow label, too (RFC 6438), and no ports if the packet begins with
  // extension headers. `l4` is what follows the fixed header.
  std::uint32_t operator()(const wire::Ipv6Header& ip, wire::Bytes l4) const;
  // Only the destination is hashed.
  std::uint32_t operator()(const wire::Ipv4Address& destination) const;
  std::uint32_t operator()(const wire::IpAddress& destination) const;

 private:
  std::uint64_t seed_;
};

// All switches of a level choose by the hash of block and leader, which the level changes first.
// What comes to a level was sorted by that hash below it, so a level that reads the same bits
// leaves most of its links idle. A product with an odd number is the same hashes in another order;
// seed 0 leaves them as they are.
class LevelHash {
 public:
  explicit LevelHash(std::uint64_t seed)
      : factor_(seed == 0 ? 1 : static_cast<std::uint32_t>(wire::mix_key(seed, 0)) | 1) {}

  std::uint32_t operator()(std::uint32_t hash) const { return hash * factor_; }

 private:
  std::uint32_t factor_;
};

}  // namespace tributary::forwarding
