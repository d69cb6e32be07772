// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "reduce/kernel.h"

namespace tributary::host {

// target = target op source, element by element; the result has the elements' own format.
inline void reduce_into(const reduce::Kernel& kernel, std::size_t element_bytes, std::byte* target,
                        const std::byte* source, std::size_t elements) {
  if (kernel.in_place) {
    kernel.accumulate(target, source, elements);
    return;
  }
  std::array<float, 4096> widened;  // fits into the first-level cache, with what is added
  while (elements != 0) {
    const auto n = std::min(elements, widened.size());
    kernel.load(widened.data(), target, n);
    kernel.accumulate(widened.data(), source, n);
    kernel.store(target, widened.data(), n);
    target += n * element_bytes;
    source += n * element_bytes;
    elements -= n;
  }
}

}  // namespace tributary::host
