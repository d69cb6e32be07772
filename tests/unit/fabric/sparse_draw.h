// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "host/sparse_vector.h"

namespace tributary::test {

// The contributions of the ranks to a sparse allreduce of f32, as in the evaluation of the Flare
// paper (7.1): the vector is cut into buckets, and each rank has one element of every bucket. It is
// drawn from `candidates` elements of the bucket, the same for all ranks: with all of the bucket
// ranks are independent, with one they have equal indices.
struct SparseDraw {
  std::size_t count = 0;       // elements of the vector
  std::size_t bucket = 512;    // elements
  std::size_t candidates = 0;  // 1 to `bucket`
  std::uint32_t ranks = 64;

  std::vector<std::uint32_t> indices(std::uint32_t rank) const;
};

// The vectors of all ranks. Every element that is not zero is 1, so that sums are counts.
class SparseInputs {
 public:
  explicit SparseInputs(const SparseDraw& draw);

  const SparseDraw& draw() const { return draw_; }
  host::SparseBuffers of(std::uint32_t rank) const;
  // Whether `sum` is the sum of all ranks' vectors.
  bool is_sum(const SparseElements& sum) const;

 private:
  SparseDraw draw_;
  std::vector<std::vector<std::uint32_t>> indices_;  // by rank
  std::vector<float> ones_;
  std::vector<float> sum_;
};

}  // namespace tributary::test
