// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocols/canary/engine/lazy_array.h"

namespace tributary::canary {

// Has room for accumulators that are wider than the elements (f32 for floats of 16 and 8 bits),
// which therefore cannot live in the packet. There is one per descriptor, so that it never runs
// out; the one used last is handed out first, so that only as much memory is touched as blocks were
// ever gathered at once.
class WideStore {
 public:
  static constexpr std::uint32_t none = 0xffffffff;
  // An accumulator has room for four times the largest payload of a 9000-byte frame, in whole cache
  // lines.
  static constexpr std::size_t accumulator_bytes_max = 36096;

  explicit WideStore(std::uint32_t accumulators);

  std::uint32_t take();
  void give(std::uint32_t index) { free_.push_back(index); }
  std::byte* at(std::uint32_t index) { return bytes_.at(index * accumulator_bytes_max); }

 private:
  LazyArray<std::byte> bytes_;
  std::vector<std::uint32_t> free_;  // as a stack; never grows beyond its initial size
};

}  // namespace tributary::canary
