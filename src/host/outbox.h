// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "host/datagram.h"
#include "host/job.h"
#include "wire/cursor.h"

namespace tributary::host {

// Machines put here what they want sent. It is bounded, so that a machine stops when the driver
// does.
class Outbox {
 public:
  explicit Outbox(std::size_t capacity) : slots_(capacity) {}

  bool full() const { return size_ == slots_.size(); }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // Precondition: !full().
  template <typename Header>
  void push(const Endpoint& destination, const Header& header, wire::Bytes payload,
            std::uint32_t flow = 0) {
    slots_[(head_ + size_) % slots_.size()].assign(destination, header, payload, flow);
    ++size_;
  }
  void push(const Endpoint& destination, wire::Bytes header, wire::Bytes payload,
            wire::Bytes trailer, std::uint32_t flow = 0) {
    slots_[(head_ + size_) % slots_.size()].assign(destination, header, payload, trailer, flow);
    ++size_;
  }
  // Returns a datagram counted from the front. Precondition: index < size().
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
