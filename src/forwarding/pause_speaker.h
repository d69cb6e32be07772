// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "forwarding/flow_control.h"
#include "packet/clock.h"
#include "wire/pause.h"

namespace tributary::forwarding {

// A PauseSpeaker decides what a port says to its neighbour about its buffer. Silence is asked for
// when the bytes that the port is charged with pass a threshold, again while that lasts, and ended
// when they have fallen below another. With classes, each has thresholds of its own, at which it
// alone is silenced; above those of the whole port all are.
class PauseSpeaker {
 public:
  void configure(const BufferLimits& limits) { limits_ = limits; }

  // Returns what is to be said now, if anything.
  std::optional<wire::Pause> poll(const PortBuffer& buffer, Time now);
  // Returns when something is to be said again, whatever the buffer does.
  Time deadline() const { return silenced_ != 0 ? again_ : never; }
  // The link was cut: nobody is silent on our account.
  void reset() { silenced_ = classes_full_ = full_ = 0; }

 private:
  std::uint8_t judge(const PortBuffer& buffer);

  BufferLimits limits_;
  std::uint8_t full_ = 0;          // all classes, or none
  std::uint8_t classes_full_ = 0;  // each class by itself
  std::uint8_t silenced_ = 0;      // as was said last
  Time again_{};
};

}  // namespace tributary::forwarding
