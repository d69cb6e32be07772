// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "host/clock.h"
#include "host/congestion_window.h"

namespace tributary::host {

// Decides how many blocks a rank may have open. The window grows and yields with the marks that
// results bring (CongestionWindow), and grows no further than twice what the path holds: where no
// queue marks, more would only wait, and spread the ranks over more blocks than switches wait for.
// It is never more than all ranks have memory for.
class BlockWindow {
 public:
  // The window begins like TCP's, for what has not been measured yet (RFC 6928 has 10 segments).
  static constexpr std::uint32_t initial = 16;
  // Every path is taken to hold so many: 10 Gbit/s for 150 us. What hosts do in bursts hides how
  // much a shorter one holds.
  static constexpr std::uint32_t held_min = 128;

  // All ranks have room for `memory` blocks, which are the window without congestion control.
  BlockWindow(std::uint32_t memory, bool congestion_control)
      : memory_(memory),
        control_(congestion_control),
        window_(control_, {control_ ? std::min(initial, memory) : memory, no_threshold, true}) {}

  std::uint32_t size() const { return window_.size(); }

  // Learns from a block that is done whether a queue on the way was congested, and whether this
  // rank had as many open as it may. Where it had not, nothing tells that more would pass.
  void done(bool congested, bool full) {
    ++done_;
    window_.result(congested, room(), full);
  }
  // Returns how many were done so far; wraps.
  std::uint32_t blocks_done() const { return done_; }

  // Learns that it took so long from the contribution to a block to its result, and that the first
  // `done_before` blocks were done when it began. As many as were done meanwhile were on the path
  // or waited; the path alone holds the part of them that the shortest time is of this one (BBR's
  // model).
  void measure(std::uint32_t done_before, Duration took) {
    if (took <= Duration::zero()) {
      return;
    }
    shortest_ = std::min(shortest_, took);
    const double on_the_way = done_ - done_before + 1;
    const auto held =
        on_the_way * static_cast<double>(shortest_.count()) / static_cast<double>(took.count());
    held_ += (held - held_) / samples;
  }

 private:
  static constexpr double no_threshold = std::numeric_limits<double>::max();
  static constexpr double samples = 64;  // over which is averaged

  std::uint32_t room() const {
    if (!control_) {
      return memory_;
    }
    const auto path = std::max<double>(2 * held_, held_min);
    return static_cast<std::uint32_t>(std::min<double>(path, memory_));
  }

  std::uint32_t memory_;
  bool control_;
  CongestionWindow window_;
  std::uint32_t done_ = 0;
  Duration shortest_ = Duration::max();
  double held_ = 0;  // blocks, on average
};

}  // namespace tributary::host
