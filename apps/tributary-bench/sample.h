// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "host/partial_result.h"
#include "wire/element.h"

namespace tributary::bench {

// A Problem is what an allreduce is to add up.
struct Problem {
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::size_t count = 0;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  double density = 1;               // share of each rank's elements that are not zero
  std::size_t packet_elements = 0;  // in a full packet; 0: it is not known, and nothing is sent
};

// A Sample is the input of one rank, pseudo-random, and what must come out. Every rank can compute
// everybody's input, so the outcome is known without communication: integers exactly (modulo
// 2^bits), min, max, minloc and maxloc exactly, sums and products of 8-bit floats too, as they are
// drawn so; those of wider floats computed in a still wider format with the bound that holds for
// every order of reduction (see tolerance() in sample_arithmetic.h). What a handler reduces is in
// handler_sample.h.
//
// Iterations use the same numbers rotated by one element each, so that what is left of an earlier
// iteration, or a block in the wrong place, does not pass for the right result.
class Sample {
 public:
  static std::unique_ptr<Sample> make(const Problem& problem);
  virtual ~Sample() = default;

  // Writes this rank's input; `buffer` needs no alignment.
  virtual void fill(std::size_t iteration, void* buffer) const = 0;
  // Counts elements of `result` that are not what the reduction must give, of all ranks but those
  // that `partial` says they lack. Where ranks may be missing, no handler reduces, and no sketch.
  virtual std::uint64_t wrong_results(std::size_t iteration, const void* result,
                                      const std::vector<PartialResult>& partial) const = 0;
  std::uint64_t wrong_results(std::size_t iteration, const void* result) const {
    return wrong_results(iteration, result, {});
  }
  // Returns the root mean square of a result's errors, as a share of that of the right result; 0 if
  // results are not rounded on purpose.
  virtual double relative_error(std::size_t /*iteration*/, const void* /*result*/) const {
    return 0;
  }
  // Counts elements of `input` that are no longer what fill() wrote.
  virtual std::uint64_t wrong_inputs(std::size_t iteration, const void* input) const = 0;
};

}  // namespace tributary::bench
