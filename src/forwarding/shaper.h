// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>

#include "packet/clock.h"
#include "wire/ethernet.h"

namespace tributary::forwarding {

// Returns what `frame_bytes` (without check sequence) occupy on an Ethernet line.
constexpr std::uint64_t line_bytes(std::uint64_t frame_bytes) {
  return std::max<std::uint64_t>(frame_bytes, wire::ethernet_min_frame_bytes) +
         wire::ethernet_line_overhead_bytes;
}

// A Shaper keeps to a rate, counting what a frame occupies on the line: it knows when a line of
// that rate will have sent all that it was given. A line with frames waiting is busy without a gap,
// however late the driver looks: what a real line would have sent in the meantime goes at once.
// Beyond that, a frame may go when the line is no more than the allowance ahead of the clock, so
// that frames that the driver brought late find it idle no longer than they must. The long-run rate
// is exact to the remainder.
class Shaper {
 public:
  // The rate is in bits per second; 0: there is none.
  void configure(std::uint64_t rate_bps);

  bool on() const { return rate_bps_ > 0; }
  // Returns when the next frame may go: the past without a rate.
  Time opens() const { return on() ? line_free_ - allowance_ : Time{}; }
  // A frame goes; the line could have sent it since `ready`. There has to be a rate.
  void occupy(std::uint64_t frame_bytes, Time ready);

 private:
  std::uint64_t rate_bps_ = 0;
  Time line_free_{};             // when the line has sent all it was given
  std::uint64_t remainder_ = 0;  // of the division bits * 1e9 / rate, carried to the next frame
  Duration allowance_{};
};

}  // namespace tributary::forwarding
