// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

namespace tributary::bench {

// A Pace tells how many packets of a fixed size a line would have carried since the last question.
// It is asked every few milliseconds; packets leave in small bursts and nobody polls.
class Pace {
 public:
  // A sender that was kept from its CPU does not make up for more than this: a line that stood
  // idle stays idle.
  static constexpr std::int64_t catch_up_ns_max = 20'000'000;

  Pace(std::uint64_t rate_bps, std::uint64_t line_bytes, std::int64_t start_ns)
      : packet_ns_(static_cast<double>(line_bytes) * 8e9 / static_cast<double>(rate_bps)),
        next_ns_(static_cast<double>(start_ns)) {}

  std::uint64_t due(std::int64_t now_ns) {
    const auto now = static_cast<double>(now_ns);
    next_ns_ = std::max(next_ns_, now - static_cast<double>(catch_up_ns_max));
    if (now < next_ns_) {
      return 0;
    }
    const auto packets = static_cast<std::uint64_t>((now - next_ns_) / packet_ns_) + 1;
    next_ns_ += static_cast<double>(packets) * packet_ns_;
    return packets;
  }

 private:
  double packet_ns_;  // on the line
  double next_ns_;    // when the next packet may leave
};

}  // namespace tributary::bench
