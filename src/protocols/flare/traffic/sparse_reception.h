// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstdint>

#include "protocols/flare/sparse_wire.h"

namespace tributary::flare {

// Keeps the shards of one block's sum, or of its result at one worker, as they come.
struct SparseReception {
  std::uint64_t block = 0;
  std::uint64_t edition = 0;
  std::uint64_t shards = 0;  // that came, by number
  std::uint32_t total = 0;   // as the last one says, or each; 0: it is not known yet
  std::uint64_t weighed = 0;
  std::uint64_t fingerprint = 0;  // of all

  bool is_of(const wire::FlareSparseHeader& header) const {
    return shards != 0 && block == header.block.value() && edition == header.edition.value();
  }
  void begin(const wire::FlareSparseHeader& header) {
    *this = {};
    block = header.block.value();
    edition = header.edition.value();
  }
  bool has(const wire::FlareSparseHeader& header) const {
    return (shards >> header.shard & 1) != 0;
  }
  void note(const wire::FlareSparseHeader& header, std::uint64_t weighed_values) {
    shards |= std::uint64_t{1} << header.shard;
    total = header.shards != 0 ? header.shards : total;
    weighed += weighed_values;
    fingerprint += header.fingerprint.value();
  }
  bool is_complete() const {
    return total != 0 && static_cast<std::uint32_t>(std::popcount(shards)) == total;
  }
};

}  // namespace tributary::flare
