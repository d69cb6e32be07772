// SPDX-License-Identifier: BSD-3-Clause
#include "placement.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "wire/crc32.h"

namespace tributary::bench {
namespace {

constexpr int untouched = 0xa5;

GradientSketch sketch_of(const Options& options, std::size_t count) {
  const auto matrix = options.matrix_of(count);
  return matrix ? GradientSketch(*matrix, options.sketch) : GradientSketch(count, options.sketch);
}

}  // namespace

void Sparse::take(const std::byte* elements, std::size_t count, std::size_t element_bytes) {
  indices.clear();
  values.clear();
  for (std::size_t i = 0; i < count; ++i, elements += element_bytes) {
    const auto* const end = elements + element_bytes;
    if (std::any_of(elements, end, [](std::byte byte) { return byte != std::byte{0}; })) {
      indices.push_back(static_cast<std::uint32_t>(i));
      values.insert(values.end(), elements, end);
    }
  }
}

Placement::Placement(const Task& task, bool in_place)
    : options_(task.options),
      sample_(task.sample),
      count_(task.problem.count),
      element_bytes_(wire::element_bytes(task.problem.type)),
      bytes_(count_ * element_bytes_),
      in_place_(in_place),
      is_root_(task.problem.rank == options_.root),
      input_(bytes_, options_.misalignment),
      output_(in_place ? 0 : bytes_, options_.misalignment),
      sketch_(sketch_of(options_, options_.is_sketched() ? count_ : 0)) {}

void Placement::prepare(std::size_t iteration) {
  if (sample_ == nullptr || bytes_ == 0) {
    return;
  }
  std::memset(out(), untouched, bytes_);
  if (options_.collective != Collective::broadcast || is_root_) {
    sample_->fill(iteration, in());
  }
  if (options_.is_sparse()) {
    sparse_.take(in(), count_, element_bytes_);
  }
}

void Placement::look_at_sketch(std::size_t iteration, Series& series) {
  if (sample_ == nullptr || !options_.check || !options_.is_sketched()) {
    return;
  }
  const auto error = sample_->relative_error(iteration, out());
  // What is no number is the worst of all.
  if (!std::isnan(series.relative_error) && !(error <= series.relative_error)) {
    series.relative_error = error;
  }
  const auto crc = wire::crc32(0, {out(), bytes_});
  series.digest = series.digest * 0x9e3779b97f4a7c15u + crc;
}

std::uint64_t Placement::wrong(std::size_t iteration, const std::vector<PartialResult>& partial) {
  if (sample_ == nullptr || !options_.check) {
    return 0;
  }
  if (options_.is_sparse()) {
    sparse_.sum.expand(out());
    return sample_->wrong_results(iteration, out());
  }
  if (options_.collective == Collective::broadcast) {
    return sample_->wrong_inputs(iteration, out());
  }
  const bool has_result = options_.collective != Collective::reduce || is_root_;
  const bool keeps_input = !in_place_ || !has_result;
  return (has_result ? sample_->wrong_results(iteration, out(), partial) : wrongly_touched()) +
         (keeps_input ? sample_->wrong_inputs(iteration, in()) : 0);
}

// Counts bytes that were written to the output of a rank that is to get none.
std::uint64_t Placement::wrongly_touched() {
  if (in_place_) {
    return 0;
  }
  const auto same = std::count(out(), out() + bytes_, static_cast<std::byte>(untouched));
  return bytes_ - static_cast<std::size_t>(same);
}

}  // namespace tributary::bench
