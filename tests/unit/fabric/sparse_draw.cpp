// SPDX-License-Identifier: BSD-3-Clause
#include "unit/fabric/sparse_draw.h"

#include <algorithm>

#include "wire/key.h"

namespace tributary::test {

std::vector<std::uint32_t> SparseDraw::indices(std::uint32_t rank) const {
  std::vector<std::uint32_t> all;
  all.reserve(count / bucket + 1);
  const std::size_t stride = bucket / candidates;
  for (std::size_t first = 0; first < count; first += bucket) {
    const auto common = wire::mix_key(1, first);
    const auto candidate = wire::mix_key(rank + 2, first) % candidates;
    const auto index = first + (common + candidate * stride) % bucket;
    if (index < count) {
      all.push_back(static_cast<std::uint32_t>(index));
    }
  }
  return all;
}

SparseInputs::SparseInputs(const SparseDraw& draw) : draw_(draw), sum_(draw.count) {
  for (std::uint32_t rank = 0; rank < draw.ranks; ++rank) {
    indices_.push_back(draw.indices(rank));
    for (const auto index : indices_.back()) {
      sum_[index] += 1;
    }
    ones_.resize(std::max(ones_.size(), indices_.back().size()), 1);
  }
}

host::SparseBuffers SparseInputs::of(std::uint32_t rank) const {
  return {indices_[rank], reinterpret_cast<const std::byte*>(ones_.data()), draw_.count,
          wire::ElementType::f32, wire::Operator::sum};
}

bool SparseInputs::is_sum(const SparseElements& sum) const {
  std::vector<float> elements(draw_.count);
  if (sum.count != draw_.count || sum.type != wire::ElementType::f32) {
    return false;
  }
  sum.expand(elements.data());
  return elements == sum_;
}

}  // namespace tributary::test
