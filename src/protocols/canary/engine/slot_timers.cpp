// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/slot_timers.h"

namespace tributary::canary {

void SlotTimers::stop(std::uint32_t slot) {
  const auto place = place_[slot];
  const Timer last = heap_[--running_];
  if (place == running_) {
    return;
  }
  if (last.expiry < heap_[place].expiry) {
    rise(place, last);
  } else {
    sink(place, last);
  }
}

// Puts `timer` where it belongs on the way from `place`, a hole, to the root.
void SlotTimers::rise(std::uint32_t place, Timer timer) {
  while (place != 0) {
    const auto parent = (place - 1) / 2;
    if (heap_[parent].expiry <= timer.expiry) {
      break;
    }
    put(place, heap_[parent]);
    place = parent;
  }
  put(place, timer);
}

// Puts `timer` where it belongs on the way from `place`, a hole, to the leaves.
void SlotTimers::sink(std::uint32_t place, Timer timer) {
  for (auto child = 2 * place + 1; child < running_; child = 2 * place + 1) {
    if (child + 1 < running_ && heap_[child + 1].expiry < heap_[child].expiry) {
      ++child;
    }
    if (timer.expiry <= heap_[child].expiry) {
      break;
    }
    put(place, heap_[child]);
    place = child;
  }
  put(place, timer);
}

}  // namespace tributary::canary
