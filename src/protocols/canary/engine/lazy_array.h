// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <type_traits>

namespace tributary::canary {

// This is a fixed array sized for the worst case and reserved at construction. The kernel zeroes it
// page by page when first touched, so that what is never needed costs address space only.
template <typename T>
class LazyArray {
  // All-zero storage is a valid array of these (implicit-lifetime types, C++20 [intro.object]).
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  explicit LazyArray(std::size_t count) : items_(static_cast<T*>(std::calloc(count, sizeof(T)))) {
    if (items_ == nullptr) {
      throw std::bad_alloc();
    }
  }

  T* at(std::size_t index) { return items_.get() + index; }
  const T* at(std::size_t index) const { return items_.get() + index; }

 private:
  struct Free {
    void operator()(T* items) const noexcept { std::free(items); }
  };
  std::unique_ptr<T[], Free> items_;
};

}  // namespace tributary::canary
