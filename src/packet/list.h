// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

#include "packet/packet.h"

namespace tributary {

// A PacketList is a FIFO of owned packets, linked through Packet::next: moving packets never
// allocates.
class PacketList {
 public:
  PacketList() = default;
  explicit PacketList(PacketPtr packet) noexcept { push(std::move(packet)); }
  PacketList(PacketList&& other) noexcept { append(std::move(other)); }
  PacketList& operator=(PacketList&& other) noexcept {
    clear();
    append(std::move(other));
    return *this;
  }
  PacketList(const PacketList&) = delete;
  PacketList& operator=(const PacketList&) = delete;
  ~PacketList() { clear(); }

  void push(PacketPtr packet) noexcept {
    Packet* last = packet.release();
    last->next = nullptr;
    (head_ == nullptr ? head_ : tail_->next) = last;
    tail_ = last;
    ++size_;
  }

  // Returns null when the list is empty.
  PacketPtr pop() noexcept {
    if (head_ == nullptr) {
      return nullptr;
    }
    Packet* first = head_;
    head_ = first->next;
    first->next = nullptr;
    --size_;
    return PacketPtr(first);
  }

  // Takes the first `count` packets, or all if there are fewer.
  PacketList take(std::size_t count) noexcept {
    if (size_ <= count) {
      return std::move(*this);
    }
    PacketList taken;
    while (taken.size_ < count) {
      taken.push(pop());
    }
    return taken;
  }

  void append(PacketList&& other) noexcept {
    if (other.head_ == nullptr) {
      return;
    }
    (head_ == nullptr ? head_ : tail_->next) = other.head_;
    tail_ = other.tail_;
    size_ += other.size_;
    other.head_ = nullptr;
    other.tail_ = nullptr;
    other.size_ = 0;
  }

  void clear() noexcept {
    while (pop()) {
    }
  }

  const Packet* front() const { return head_; }
  bool empty() const { return head_ == nullptr; }
  std::size_t size() const { return size_; }

 private:
  Packet* head_ = nullptr;
  Packet* tail_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tributary
