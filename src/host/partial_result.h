// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tributary {

// Elements of a result, one behind the other, that lack the contributions of the same ranks:
// partial aggregation, PANAMA section 7.
struct PartialResult {
  std::size_t first = 0;               // element
  std::size_t count = 0;               // elements
  std::vector<std::uint32_t> missing;  // ranks, increasing

  friend bool operator==(const PartialResult&, const PartialResult&) = default;
};

}  // namespace tributary
