// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "engine/frame.h"
#include "engine/masked_words.h"
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

// The contributions to a block are alike in this part of the headers.
inline constexpr std::size_t common_at = offsetof(UdpHeaders, ipv4.destination);
inline constexpr auto common = [] {
  engine::MaskedWords<6> words;
  const auto cover = [&words](std::size_t first, std::size_t last) {
    words.cover(first - common_at, last - common_at);
  };
  cover(offsetof(UdpHeaders, ipv4.destination), offsetof(UdpHeaders, udp));
  cover(offsetof(UdpHeaders, udp.destination_port), offsetof(UdpHeaders, udp.checksum));
  cover(offsetof(UdpHeaders, canary.destination), offsetof(UdpHeaders, canary.counter));
  cover(offsetof(UdpHeaders, canary.hosts), offsetof(UdpHeaders, canary.children));
  // Kind, type and operator are between these.
  cover(offsetof(UdpHeaders, canary.flags), offsetof(UdpHeaders, canary.shard));
  cover(offsetof(UdpHeaders, canary.job), offsetof(UdpHeaders, canary.child_port));
  words.leave_out(offsetof(UdpHeaders, canary.flags) - common_at,
                  wire::CanaryHeader::congested_bit);
  return words;
}();

}  // namespace detail

// Returns whether `next` is addressed like the first contribution to its block and says the same of
// it: it differs only in who sent it, and in what he adds. What followed from the rest is known.
inline bool repeats(const UdpHeaders& next, const UdpHeaders& first) {
  return detail::common.agree(reinterpret_cast<const std::byte*>(&next) + detail::common_at,
                              reinterpret_cast<const std::byte*>(&first) + detail::common_at);
}

}  // namespace tributary::canary
