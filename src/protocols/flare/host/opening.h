// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "host/call.h"

namespace tributary::host {

// A sparse allreduce begins by this: a dense one of six numbers, of which each rank gets the
// greatest. They are how many elements the fullest rank brings, from which all have the same span;
// behind which sparse block the call begins; and length and type of the vectors, of which the
// negated ones tell whether they are the same on all ranks.
class FlareOpening {
 public:
  // The call is in place: the result takes the place of what this rank says.
  Call call_for(const SparseBuffers& vector, std::uint64_t next_block);

  // Says from the result why the ranks have not called the same allreduce, if they have not.
  std::optional<std::string> disagreement() const;
  std::uint64_t present() const { return static_cast<std::uint64_t>(numbers_[0]); }
  std::uint64_t first_block() const { return static_cast<std::uint64_t>(numbers_[1]); }

 private:
  std::array<std::int64_t, 6> numbers_{};
};

}  // namespace tributary::host
