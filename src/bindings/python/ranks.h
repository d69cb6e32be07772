// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <pybind11/pybind11.h>

namespace tributary::python {

// Returns a list of the ranks whose bits are set, as TRIBUTARY_RANK_WORDS() words have them.
inline pybind11::list ranks_in(const std::uint64_t* words, std::uint32_t world_size) {
  pybind11::list ranks;
  for (std::uint32_t rank = 0; rank < world_size; ++rank) {
    if ((words[rank / 64] >> (rank % 64) & 1) != 0) {
      ranks.append(rank);
    }
  }
  return ranks;
}

}  // namespace tributary::python
