// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary::flare {

// Tells where a series of shards that is sent again begins: each time elsewhere. A queue that has
// room for a few of them loses others every time then, and not the last ones for ever.
class Rotation {
 public:
  // Returns a number below `shards`. The golden ratio leaves no part of them out for long.
  std::size_t next(std::size_t shards) {
    turn_ += 0x9e3779b9u;
    return static_cast<std::size_t>(std::uint64_t{turn_} * shards >> 32);
  }

 private:
  std::uint32_t turn_ = 0;
};

}  // namespace tributary::flare
