// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace tributary::host::sketch {

// A sketched allreduce as it is called on one rank; `in` and `out` are the same or do not overlap.
struct Vectors {
  std::span<const float> in;
  std::span<float> out;
};

}  // namespace tributary::host::sketch
