// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "packet/pool.h"
#include "wire/cursor.h"

namespace tributary::engine {

// SharedElements are shared by frames under way and one holder here, who can send them again.
class SharedElements {
 public:
  SharedElements() = default;
  // Becomes one of the holders of `body`, in a store that `pool` belongs to.
  SharedElements(PacketPool& pool, Packet& body) : pool_(&pool), body_(&body) {}
  SharedElements(SharedElements&& other) noexcept
      : pool_(other.pool_), body_(std::exchange(other.body_, nullptr)) {}
  SharedElements& operator=(SharedElements&& other) noexcept {
    reset();
    pool_ = other.pool_;
    body_ = std::exchange(other.body_, nullptr);
    return *this;
  }
  SharedElements(const SharedElements&) = delete;
  SharedElements& operator=(const SharedElements&) = delete;
  ~SharedElements() { reset(); }

  void reset() noexcept {
    if (body_ != nullptr) {
      pool_->let_go(*std::exchange(body_, nullptr));
    }
  }
  // Fetches what is written when the elements are let go, which they are about to be.
  void prefetch() const { __builtin_prefetch(body_, 1); }
  explicit operator bool() const { return body_ != nullptr; }
  wire::Bytes bytes() const { return std::as_const(*body_).bytes(); }

 private:
  PacketPool* pool_ = nullptr;
  Packet* body_ = nullptr;
};

}  // namespace tributary::engine
