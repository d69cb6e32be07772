// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/wide_store.h"

#include <cassert>

namespace tributary::canary {

WideStore::WideStore(std::uint32_t accumulators)
    : bytes_(accumulators * accumulator_bytes_max), free_(accumulators) {
  for (std::uint32_t i = 0; i < accumulators; ++i) {
    free_[i] = accumulators - 1 - i;
  }
}

std::uint32_t WideStore::take() {
  assert(!free_.empty());
  const auto index = free_.back();
  free_.pop_back();
  return index;
}

}  // namespace tributary::canary
