// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/factor_sum.h"

#include "wire/element.h"

namespace tributary::host::sketch {
namespace {

constexpr unsigned bits_of_floats = 32;

SketchOptions without_feedback(SketchOptions options) {
  options.feedback = false;
  return options;
}

}  // namespace

FactorSum::FactorSum(std::span<float> factor, const SketchOptions& options, std::uint32_t rank,
                     std::uint32_t world_size, Scratch& scratch)
    : factor_(factor),
      sketch_(factor.size(), options.bits == bits_of_floats ? without_feedback(options) : options) {
  if (options.bits != bits_of_floats) {
    on_grid_.emplace(Vectors{factor_, factor_}, sketch_, rank, world_size, scratch);
  }
}

std::optional<Step> FactorSum::next() {
  if (on_grid_) {
    if (given_up()) {
      on_grid_->give_up();
    }
    return on_grid_->next();
  }
  if (given_) {
    return std::nullopt;
  }
  given_ = true;
  auto* const floats = std::as_writable_bytes(factor_).data();
  const Buffers sums{floats, floats, factor_.size(), wire::ElementType::f32, wire::Operator::sum};
  return Step{{Collective::allreduce, sums, 0}};
}

std::size_t FactorSum::bytes() const {
  return on_grid_ ? on_grid_->bytes() : factor_.size_bytes();
}

}  // namespace tributary::host::sketch
