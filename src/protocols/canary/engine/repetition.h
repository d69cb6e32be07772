// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/frame.h"
#include "protocols/canary/wire.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::canary {

// These are the headers of a contribution over UDP whose IP header has no options.
struct [[gnu::packed]] UdpHeaders {
  wire::Ipv4Header ipv4;
  wire::UdpHeader udp;
  wire::CanaryHeader canary;
};

// Returns those of `frame`; null if it has others.
inline const UdpHeaders* udp_headers_of(const engine::Frame& frame) {
  const bool has_them = frame.udp != nullptr &&
                        frame.ipv4->header_bytes() == sizeof(wire::Ipv4Header) &&
                        frame.payload.size() >= sizeof(wire::CanaryHeader);
  return has_them ? reinterpret_cast<const UdpHeaders*>(frame.ipv4) : nullptr;
}

namespace detail {

// The contributions to a block are alike in this part of the headers, in words.
inline constexpr std::size_t common_at = offsetof(UdpHeaders, ipv4.destination);
using CommonWords = std::array<std::uint64_t, 6>;

// These bits of that part are the same in all contributions to a block.
inline constexpr CommonWords common_bits = [] {
  std::array<unsigned char, sizeof(CommonWords)> bytes{};
  const auto cover = [&bytes](std::size_t first, std::size_t last) {
    std::fill(bytes.begin() + (first - common_at), bytes.begin() + (last - common_at), 0xff);
  };
  cover(offsetof(UdpHeaders, ipv4.destination), offsetof(UdpHeaders, udp));
  cover(offsetof(UdpHeaders, udp.destination_port), offsetof(UdpHeaders, udp.checksum));
  cover(offsetof(UdpHeaders, canary.destination), offsetof(UdpHeaders, canary.counter));
  cover(offsetof(UdpHeaders, canary.hosts), offsetof(UdpHeaders, canary.children));
  // Kind, type and operator are between these.
  cover(offsetof(UdpHeaders, canary.flags), offsetof(UdpHeaders, canary.shard));
  cover(offsetof(UdpHeaders, canary.job), offsetof(UdpHeaders, canary.child_port));
  bytes[offsetof(UdpHeaders, canary.flags) - common_at] ^= wire::CanaryHeader::congested_bit;
  return std::bit_cast<CommonWords>(bytes);
}();

}  // namespace detail

// Returns whether `next` is addressed like the first contribution to its block and says the same of
// it: it differs only in who sent it, and in what he adds. What followed from the rest is known.
inline bool repeats(const UdpHeaders& next, const UdpHeaders& first) {
  detail::CommonWords a;
  detail::CommonWords b;
  std::memcpy(a.data(), reinterpret_cast<const std::byte*>(&next) + detail::common_at, sizeof a);
  std::memcpy(b.data(), reinterpret_cast<const std::byte*>(&first) + detail::common_at, sizeof b);
  std::uint64_t differ = 0;
#pragma GCC unroll 6
  for (std::size_t i = 0; i < a.size(); ++i) {
    differ |= (a[i] ^ b[i]) & detail::common_bits[i];
  }
  return differ == 0;
}

}  // namespace tributary::canary
