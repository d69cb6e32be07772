// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "host/job.h"
#include "wire/canary.h"

namespace tributary::host {

// A packet that is to be sent. The header is sealed; the payload lies in the caller's buffers and
// stays unchanged until the collective ends, so that it need not be copied.
struct Datagram {
  Endpoint destination;
  wire::CanaryHeader header;
  wire::Bytes payload;
};

// Where machines put what they want sent; bounded, so that a machine stops when the driver does.
class Outbox {
 public:
  explicit Outbox(std::size_t capacity) : slots_(capacity) {}

  bool full() const { return size_ == slots_.size(); }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // Precondition: !full().
  void push(const Datagram& datagram) {
    slots_[(head_ + size_) % slots_.size()] = datagram;
    ++size_;
  }
  // Counted from the front. Precondition: index < size().
  const Datagram& at(std::size_t index) const { return slots_[(head_ + index) % slots_.size()]; }
  // Precondition for both: !empty().
  const Datagram& front() const { return slots_[head_]; }
  void pop() {
    head_ = (head_ + 1) % slots_.size();
    --size_;
  }
  void clear() { size_ = 0; }

 private:
  std::vector<Datagram> slots_;
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace tributary::host
