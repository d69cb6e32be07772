// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/slot_timers.h"

namespace tributary::canary {

void SlotTimers::start(std::uint32_t slot, Time expiry) {
  const auto place = static_cast<std::uint32_t>(heap_.size());
  const Timer timer{expiry, slot};
  heap_.push_back(timer);
  rise(place, timer);
}

void SlotTimers::stop(std::uint32_t slot) {
  const auto place = place_[slot];
  const Timer last = heap_.back();
  heap_.pop_back();
  place_[slot] = none;
  if (place == heap_.size()) {
    return;
  }
  if (last.expiry < heap_[place].expiry) {
    rise(place, last);
  } else {
    sink(place, last);
  }
}

void SlotTimers::put(std::uint32_t place, const Timer& timer) {
  heap_[place] = timer;
  place_[timer.slot] = place;
}

// Puts `timer` where it belongs on the way from `place`, a hole, to the root ...
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

// ... or to the leaves.
void SlotTimers::sink(std::uint32_t place, Timer timer) {
  const auto size = static_cast<std::uint32_t>(heap_.size());
  for (auto child = 2 * place + 1; child < size; child = 2 * place + 1) {
    if (child + 1 < size && heap_[child + 1].expiry < heap_[child].expiry) {
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
