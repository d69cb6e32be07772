// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/shaper.h"

#include <chrono>

namespace tributary::forwarding {
namespace {

constexpr std::uint64_t line_nanoseconds_per_second = 1'000'000'000;

}  // namespace

void Shaper::configure(std::uint64_t rate_bps) {
  const auto before = opens();
  const bool was_on = on();
  rate_bps_ = rate_bps;
  remainder_ = 0;
  if (rate_bps > 0) {
    constexpr std::uint64_t two_frames_bits = 2 * 8 * line_bytes(1514);
    const auto two_frames = two_frames_bits * line_nanoseconds_per_second / rate_bps;
    allowance_ = std::max<Duration>(std::chrono::milliseconds(1),
                                    Duration(static_cast<Duration::rep>(two_frames)));
  }
  if (was_on && on()) {
    line_free_ = before + allowance_;  // what the line owes is not paid at the new rate
  }
}

void Shaper::occupy(std::uint64_t frame_bytes, Time ready) {
  const auto scaled = line_bytes(frame_bytes) * 8 * line_nanoseconds_per_second + remainder_;
  remainder_ = scaled % rate_bps_;
  line_free_ =
      std::max(line_free_, ready) + Duration(static_cast<Duration::rep>(scaled / rate_bps_));
}

}  // namespace tributary::forwarding
