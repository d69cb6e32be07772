// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/call.h"
#include "property/reference.h"
#include "property/shape.h"
#include "wire/element.h"

namespace tributary::test {

// A collective that all ranks of a job call, and the result that it must have.
struct Exercise {
  host::Collective collective = host::Collective::allreduce;
  wire::ElementType type = wire::ElementType::i32;
  wire::Operator op = wire::Operator::sum;
  std::size_t elements = 0;
  std::uint32_t root = 0;
  bool in_place = false;
  bool sparse = false;       // ranks give the elements of their inputs that are not zero
  std::vector<Data> inputs;  // by rank
  Data expected;

  bool writes_in_place() const {
    return (in_place && !sparse) || collective == host::Collective::broadcast;
  }
  // Whether that rank gets a result.
  bool delivers(std::uint32_t rank) const {
    return collective == host::Collective::allreduce || collective == host::Collective::broadcast ||
           (collective == host::Collective::reduce && root == rank);
  }
};

// The number of communicators that the job has, one after the other.
inline std::uint64_t runs_of(const Shape& shape, std::uint32_t job) {
  return is_netreduce(shape, job) || is_flare(shape, job) ? shape.runs : 1;
}

// Draws the exercises of all runs of a job, as many in each.
std::vector<Exercise> draw_exercises(const Shape& shape, std::uint32_t job, std::uint32_t world);

}  // namespace tributary::test
