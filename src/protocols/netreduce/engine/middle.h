// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/frame.h"
#include "protocols/netreduce/engine/connection.h"
#include "wire/ipv4.h"
#include "wire/roce.h"
#include "wire/transport.h"

namespace tributary::netreduce {

// These are the headers of a packet from the middle of a message over IPv4: its elements are right
// behind them. Nearly all packets are such.
struct [[gnu::packed]] MiddleHeaders {
  wire::Ipv4Header ipv4;
  wire::UdpHeader udp;
  wire::BthHeader bth;

  ConnectionKey connection() const {
    return {ipv4.source, ipv4.destination, bth.destination_qp.value()};
  }
};

// Returns those of `frame`; null if it has others. What is behind them is not looked at.
inline MiddleHeaders* middle_headers_of(const engine::Frame& frame) {
  if (frame.udp == nullptr || frame.ipv4->header_bytes() != sizeof(wire::Ipv4Header) ||
      frame.payload.size() < sizeof(wire::BthHeader)) {
    return nullptr;
  }
  auto* headers = reinterpret_cast<MiddleHeaders*>(frame.ipv4);
  return wire::position_of(headers->bth.opcode) == wire::RocePosition::middle ? headers : nullptr;
}

// Holds what the middle packets of all gradient messages of one connection have in common, in
// words.
class MiddlePattern {
 public:
  // Makes a pattern that no packet has.
  MiddlePattern() { words_.fill(~std::uint64_t{0}); }
  // Makes the pattern of packets with headers such as these.
  explicit MiddlePattern(const MiddleHeaders& headers) {
    std::memcpy(words_.data(), reinterpret_cast<const std::byte*>(&headers) + common_at,
                sizeof words_);
    for (std::size_t i = 0; i < words_.size(); ++i) {
      words_[i] &= common_bits[i];
    }
  }
  // Makes the pattern of a connection. No packet has it over IPv6, nor where no queue pair is
  // known.
  static MiddlePattern of(const ConnectionKey& key) {
    if (!key.source.is_v4() || !key.destination.is_v4() ||
        key.destination_qp == ConnectionKey::any_qp) {
      return {};
    }
    MiddleHeaders headers{};
    headers.ipv4.source = key.source.v4();
    headers.ipv4.destination = key.destination.v4();
    headers.bth.destination_qp = key.destination_qp;
    return MiddlePattern(headers);
  }

  friend bool operator==(const MiddlePattern& a, const MiddlePattern& b) {
    return ((a.words_[0] ^ b.words_[0]) | (a.words_[1] ^ b.words_[1]) |
            (a.words_[2] ^ b.words_[2])) == 0;
  }

 private:
  using Words = std::array<std::uint64_t, 3>;
  static constexpr std::size_t common_at = offsetof(MiddleHeaders, ipv4.source);

  // These are the addresses, the pad count and version, and the queue pair.
  static constexpr Words common_bits = [] {
    std::array<unsigned char, sizeof(Words)> bytes{};
    const auto cover = [&bytes](std::size_t first, std::size_t last, unsigned char bits = 0xff) {
      for (; first < last; ++first) {
        bytes[first - common_at] = bits;
      }
    };
    cover(offsetof(MiddleHeaders, ipv4.source), offsetof(MiddleHeaders, udp));
    cover(offsetof(MiddleHeaders, bth.flags), offsetof(MiddleHeaders, bth.partition), 0x3f);
    cover(offsetof(MiddleHeaders, bth.destination_qp), offsetof(MiddleHeaders, bth.acknowledge));
    return std::bit_cast<Words>(bytes);
  }();

  Words words_;
};

}  // namespace tributary::netreduce
