// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/gradient_sketch.h"
#include "host/partial_result.h"
#include "host/sparse_vector.h"
#include "series.h"
#include "task.h"

namespace tributary::bench {

// The first used byte of a Buffer misses cache-line alignment by a given number of bytes.
class Buffer {
 public:
  Buffer(std::size_t bytes, std::size_t misalignment) : storage_(bytes + 64 + misalignment) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage_.data());
    offset_ = (64 - address % 64) % 64 + misalignment;
  }
  std::byte* data() { return storage_.data() + offset_; }

 private:
  std::vector<std::byte> storage_;
  std::size_t offset_ = 0;
};

// Sparse is what a sparse allreduce takes of a dense vector, and what it returned.
struct Sparse {
  std::vector<std::uint32_t> indices;
  std::vector<std::byte> values;
  SparseElements sum;

  void take(const std::byte* elements, std::size_t count, std::size_t element_bytes);
};

// A Placement is one rank's buffers, in place or out of place, and what is to be in them.
class Placement {
 public:
  Placement(const Task& task, bool in_place);

  std::byte* in() { return input_.data(); }
  std::byte* out() { return in_place_ ? input_.data() : output_.data(); }
  Sparse& sparse() { return sparse_; }
  GradientSketch& sketch() { return sketch_; }

  void prepare(std::size_t iteration);
  // Notes what there is to see of results that are not exact.
  void look_at_sketch(std::size_t iteration, Series& series);
  // Counts wrong elements of a result that lacks whom `partial` names.
  std::uint64_t wrong(std::size_t iteration, const std::vector<PartialResult>& partial);

 private:
  std::uint64_t wrongly_touched();

  const Options& options_;
  const Sample* sample_;
  std::size_t count_;
  std::size_t element_bytes_;
  std::size_t bytes_;
  bool in_place_;
  bool is_root_;
  Buffer input_;
  Buffer output_;
  Sparse sparse_;
  GradientSketch sketch_;
};

}  // namespace tributary::bench
