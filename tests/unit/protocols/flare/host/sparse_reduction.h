// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "host/deadline.h"
#include "host/sparse_vector.h"
#include "model_network.h"
#include "unit/host/sparse_vectors.h"

namespace tributary::host::test {

inline Call sparse_call_of(const SparseCall& sparse) {
  Call call;
  call.sparse = &sparse;
  return call;
}

// One sparse allreduce of all ranks of a model.
class SparseReduction {
 public:
  SparseReduction(FlareModel& model, const SparseVectors& vectors)
      : model_(model), vectors_(vectors), sums_(vectors.ranks()), calls_(vectors.ranks()) {}

  void begin(std::uint32_t rank, const Deadline& until = {never, std::chrono::seconds(10)}) {
    calls_[rank] = {vectors_.of(rank), &sums_[rank]};
    model_[rank].begin(sparse_call_of(calls_[rank]), model_.now, until);
  }
  void begin_all(const Deadline& until = {never, std::chrono::seconds(10)}) {
    for (std::uint32_t rank = 0; rank < vectors_.ranks(); ++rank) {
      begin(rank, until);
    }
  }

  const SparseElements& sum(std::uint32_t rank) const { return sums_[rank]; }
  bool is_right(std::uint32_t rank) const {
    return sums_[rank].count != 0 && expanded(sums_[rank]) == vectors_.sum();
  }
  // Ranks that have no result, or a wrong one.
  std::size_t wrong() const {
    std::size_t ranks = 0;
    for (std::uint32_t rank = 0; rank < vectors_.ranks(); ++rank) {
      const auto& machine = model_[rank];
      ranks += machine.running() || machine.failure() || !is_right(rank) ? 1 : 0;
    }
    return ranks;
  }

 private:
  FlareModel& model_;
  const SparseVectors& vectors_;
  std::vector<SparseElements> sums_;
  std::vector<SparseCall> calls_;
};

}  // namespace tributary::host::test
