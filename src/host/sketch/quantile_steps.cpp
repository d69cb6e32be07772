// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/quantile_steps.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "wire/element.h"

namespace tributary::host::sketch {

QuantileSteps::QuantileSteps(const Vectors& vectors, GradientSketch& sketch, std::uint32_t rank,
                             std::uint32_t world_size, Scratch& scratch)
    : vectors_(vectors),
      pending_(vectors.in, sketch, rank),
      scratch_(scratch),
      count_(sketch.count()),
      bits_(std::min(sketch.options().bits, 8u)),  // so that what is refused has a shape, too
      rank_(rank),
      world_size_(world_size) {}

std::optional<Step> QuantileSteps::next() {
  if (given_) {
    if (!given_up()) {
      finish();
    }
    return std::nullopt;
  }
  given_ = true;
  if (!given_up()) {
    prepare();
  }
  auto* const parts = scratch_.carried.data();
  const Buffers sketches{parts, parts, bytes(), wire::ElementType::i8, wire::Operator::bit_or};
  return Step{{Collective::allreduce, sketches, 0}};
}

void QuantileSteps::prepare() {
  pending_.begin();
  const auto elements = pending_.elements();
  const auto quantiles = quantiles_of(elements, bits_, pending_.options().rounding);
  scratch_.carried.assign(bytes(), std::byte{0});
  std::memcpy(part(rank_), quantiles.values.data(), values_bytes());
  encode(part(rank_) + values_bytes(), elements, quantiles, pending_.chance());
}

std::vector<QuantileSteps::Values> QuantileSteps::values_of_all() const {
  std::vector<Values> values(world_size_);
  for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
    std::memcpy(values[rank].data(), part(rank), values_bytes());
  }
  return values;
}

// Adds up in the order of the ranks, so that all come to the same bits.
void QuantileSteps::finish() {
  const auto values = values_of_all();
  const bool finite = std::none_of(values.begin(), values.end(),
                                   [](const Values& of_rank) { return std::isnan(of_rank[0]); });
  const auto kept = pending_.kept();
  for_chunks(count_, [&](std::size_t, std::size_t first, std::size_t n) {
    float sum[chunk_elements] = {};
    float decoded[chunk_elements];
    for (std::uint32_t rank = 0; rank < world_size_; ++rank) {
      const auto* const codes = part(rank) + values_bytes() + packed_bytes(first, bits_);
      decode({decoded, n}, codes, values[rank], bits_);
      for (std::size_t i = 0; i < n; ++i) {
        sum[i] += decoded[i];
      }
      for (std::size_t i = 0; rank == rank_ && !kept.empty() && i < n; ++i) {
        kept[first + i] = finite ? kept[first + i] - decoded[i] : 0.0f;
      }
    }
    std::copy_n(sum, n, vectors_.out.data() + first);
  });
  pending_.end();
}

}  // namespace tributary::host::sketch
