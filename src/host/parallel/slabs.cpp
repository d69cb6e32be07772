// SPDX-License-Identifier: BSD-3-Clause
#include "host/parallel/slabs.h"

#include <algorithm>
#include <array>

#include "reduce/kernel.h"

namespace tributary::host {

void reduce_slabs(MachineGroup& group, Range range, wire::ElementType type, wire::Operator op) {
  constexpr std::size_t chunk = 2048;
  alignas(64) std::array<std::byte, chunk * wire::element_bytes_max> accumulator;
  const auto& kernel = reduce::kernel(type, op);
  const auto element_bytes = wire::element_bytes(type);
  for (auto at = range.begin; at < range.end; at += chunk) {
    const auto elements = std::min(chunk, range.end - at);
    kernel.load(accumulator.data(), group.slab(0) + at * element_bytes, elements);
    for (std::uint32_t rank = 1; rank < group.size(); ++rank) {
      kernel.accumulate(accumulator.data(), group.slab(rank) + at * element_bytes, elements);
    }
    kernel.store(group.results() + at * element_bytes, accumulator.data(), elements);
  }
}

}  // namespace tributary::host
