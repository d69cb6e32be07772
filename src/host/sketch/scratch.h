// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tributary::host::sketch {

// The memory of a sketched allreduce, worth keeping for the next one.
struct Scratch {
  std::vector<std::int16_t> bounds;
  std::vector<std::byte> own;      // this rank's
  std::vector<std::byte> carried;  // of all ranks
  // A matrix has its factors here, and what this rank gave of the right one.
  std::vector<float> left;
  std::vector<float> right;
  std::vector<float> given;
};

}  // namespace tributary::host::sketch
