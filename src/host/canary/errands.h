// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "host/canary/packets.h"
#include "wire/canary.h"

namespace tributary::host {

// A packet that answers another one. What it says is decided when it is sent.
struct Errand {
  enum class Kind : std::uint8_t { replay, failure, pending, release };
  Kind kind = Kind::replay;
  std::uint32_t id = 0;
  std::uint32_t rank = 0;  // failure, pending: to whom; replay: who asked, or no_rank
  Reply reply;             // the others: to whom
};

// Errands in the order they came; bounded. One that finds no room is not done: whoever needs it
// asks again.
class Errands {
 public:
  explicit Errands(std::size_t capacity) : slots_(capacity) {}

  bool empty() const { return size_ == 0; }
  void push(const Errand& errand) {
    if (size_ < slots_.size()) {
      slots_[(head_ + size_) % slots_.size()] = errand;
      ++size_;
    }
  }
  // Precondition for both: !empty().
  const Errand& front() const { return slots_[head_]; }
  void pop() {
    head_ = (head_ + 1) % slots_.size();
    --size_;
  }

 private:
  std::vector<Errand> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tributary::host
