// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

namespace tributary::canary {

// Keeps slot indices in order of arrival, linked through a fixed array: constant timeouts expire in
// that order (4.3). A slot can be taken out of the middle, so that the front is always really due
// next.
class SlotFifo {
 public:
  static constexpr std::uint32_t none = 0xffffffff;

  explicit SlotFifo(std::uint32_t slots) : links_(slots) {}

  std::uint32_t front() const { return head_; }
  std::uint32_t next(std::uint32_t slot) const { return links_[slot].next; }

  // Precondition: `slot` is not in the FIFO.
  void push(std::uint32_t slot) {
    links_[slot] = {tail_, none};
    (tail_ == none ? head_ : links_[tail_].next) = slot;
    tail_ = slot;
  }

  // Precondition: `slot` is in the FIFO.
  void remove(std::uint32_t slot) {
    const auto [previous, next] = links_[slot];
    (previous == none ? head_ : links_[previous].next) = next;
    (next == none ? tail_ : links_[next].previous) = previous;
  }

 private:
  struct Link {
    std::uint32_t previous = none;
    std::uint32_t next = none;
  };
  std::vector<Link> links_;
  std::uint32_t head_ = none;
  std::uint32_t tail_ = none;
};

}  // namespace tributary::canary
