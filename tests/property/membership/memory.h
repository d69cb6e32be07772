// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tributary::test {

// Returns the bytes that this thread has allocated by `new`, less those that it has freed.
std::ptrdiff_t allocated_bytes();

// While it exists, adds allocated bytes to `held` and subtracts freed ones.
class CountsMemory {
 public:
  explicit CountsMemory(std::ptrdiff_t& held) : held_(held), before_(allocated_bytes()) {}
  CountsMemory(const CountsMemory&) = delete;
  CountsMemory& operator=(const CountsMemory&) = delete;
  ~CountsMemory() { held_ += allocated_bytes() - before_; }

 private:
  std::ptrdiff_t& held_;
  std::ptrdiff_t before_;
};

}  // namespace tributary::test
