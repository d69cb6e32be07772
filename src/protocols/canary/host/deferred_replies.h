// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "protocols/canary/host/packets.h"
#include "protocols/canary/wire.h"

namespace tributary::host {

// This is a packet that answers another one. What it says is decided when it is sent.
struct DeferredReply {
  enum class Kind : std::uint8_t { replay, failure, pending, release };
  Kind kind = Kind::replay;
  std::uint32_t id = 0;
  std::uint32_t rank = 0;  // failure, pending: to whom; replay: who asked, or no_rank
  Reply reply;             // the others: to whom
  bool congested = false;  // replay: a queue on the way of what is answered was
};

// Holds replies in the order they came. It is bounded: a reply that finds no room is not sent, and
// whoever needs it asks again.
class DeferredReplies {
 public:
  explicit DeferredReplies(std::size_t capacity) : slots_(capacity) {}

  bool empty() const { return size_ == 0; }
  void push(const DeferredReply& deferred) {
    if (size_ < slots_.size()) {
      slots_[(head_ + size_) % slots_.size()] = deferred;
      ++size_;
    }
  }
  // Precondition for both: !empty().
  const DeferredReply& front() const { return slots_[head_]; }
  void pop() {
    head_ = (head_ + 1) % slots_.size();
    --size_;
  }

 private:
  std::vector<DeferredReply> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tributary::host
