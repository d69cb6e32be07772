// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "unit/fabric/sparse_draw.h"

namespace tributary::test {

enum class Storage : std::uint8_t { hash, array };

// The memory and traffic of sums of sparse blocks in a switch whose children are the ranks (Flare,
// Figure 14).
struct StorageCost {
  std::size_t span = 0;          // elements of the vector for which a block stands
  std::size_t packet_bytes = 0;  // of the buffers
  std::size_t buffers_max = 0;   // that a block takes until its sum is complete, or sent
  double buffers_mean = 0;
  std::uint64_t came_bytes = 0;  // payloads that came
  std::uint64_t sent_bytes = 0;  // payloads of what is sent up
  std::uint64_t sent_packets = 0;
};

// Every switch but the root begins with a hash table; the root has an array.
StorageCost storage_cost(const SparseInputs& inputs, Storage storage);

}  // namespace tributary::test
