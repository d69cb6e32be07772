// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "forwarding/shaper.h"
#include "packet/clock.h"

namespace tributary::test {

// Hosts behind leaves, with as many spines as a leaf has hosts, so that the fabric carries all that
// the hosts' links can carry. All links are alike.
struct Cluster {
  unsigned leaves = 8;
  unsigned hosts_per_leaf = 8;
  std::uint64_t rate_bps = 100'000'000'000;
  Duration cable_delay = std::chrono::microseconds(1);

  std::uint32_t hosts() const { return leaves * hosts_per_leaf; }
  // The number of links from one host to another.
  unsigned links(std::size_t from, std::size_t to) const {
    return from / hosts_per_leaf == to / hosts_per_leaf ? 2 : 4;
  }
  Duration on_line(std::uint64_t line_bytes) const {
    return Duration(static_cast<Duration::rep>(line_bytes * 8'000'000'000 / rate_bps));
  }
};

// The cost of an allreduce: the time until all ranks have the sum, and the bytes on the lines of
// all links.
struct Cost {
  Duration time{};
  std::uint64_t line_bytes = 0;
  bool exact = false;  // all ranks have the sum
};

// The payload of TCP with time stamps over Ethernet with an MTU of 1500.
inline constexpr std::size_t segment_bytes_max = 1448;
constexpr std::uint64_t segment_line_bytes(std::size_t payload) {
  return forwarding::line_bytes(14 + 20 + 32 + payload);
}
// Line bytes of a message that is cut into full segments.
constexpr std::uint64_t message_line_bytes(std::uint64_t bytes) {
  const auto rest = bytes % segment_bytes_max;
  return bytes / segment_bytes_max * segment_line_bytes(segment_bytes_max) +
         (rest == 0 ? 0 : segment_line_bytes(rest));
}

}  // namespace tributary::test
