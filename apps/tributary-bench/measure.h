// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "host/communicator.h"
#include "options.h"
#include "sample.h"
#include "series.h"
#include "task.h"
#include "totals.h"

namespace tributary::bench {

struct Row {
  std::string algorithm;  // followed in brackets by what has carried it, if that is another
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::size_t count = 0;
  std::uint32_t root = 0;
  Series out_of_place;  // empty if the collective has none
  Series in_place;

  std::uint64_t wrong() const { return out_of_place.wrong + in_place.wrong; }
  std::size_t bytes() const { return count * wire::element_bytes(type); }
};

Result<Row> measure(const Task& task);

// Returns the sample that results are verified against, or null if nothing is verified. A sparse
// allreduce always has one, which tells which elements there are. The ranks of a broadcast all know
// what its root has.
std::unique_ptr<Sample> sample_of(const Options& options, const Problem& problem);

Result<Totals> totals_of(Communicator& communicator);

}  // namespace tributary::bench
