// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/buckets.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

namespace tributary::host::sketch {

namespace {

constexpr std::uint32_t halves = 1u << 16;
constexpr std::uint32_t negative = halves / 2;

std::uint32_t upper_half(float element) {
  return std::bit_cast<std::uint32_t>(element) >> 16;
}

// Returns the place of an edge's upper half in the order of floats. As a zero it is the negative
// one, which comes first and is no less than the other.
std::uint32_t place_of(float edge) {
  const auto half = upper_half(edge == 0 ? -0.0f : edge);
  return half >= negative ? halves - 1 - half : half + negative;
}

}  // namespace

Buckets::Buckets(std::span<const float> edges) {
  edges_.fill(std::numeric_limits<float>::quiet_NaN());
  buckets_[0] = 0;
  std::size_t last = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    last += edges[i] != edges_[last] ? 1 : 0;
    edges_[last] = edges[i];
    buckets_[last] = static_cast<std::uint8_t>(i);
  }
  some_are_alike_ = last + 1 < edges.size();
  fill(std::span<const float>(edges_).first(last + 1));
}

// Bisection begins with the last edge whose upper half is before the element's.
void Buckets::fill(std::span<const float> edges) {
  std::uint32_t filled = 0;
  const auto fill_to = [&](std::uint32_t place, std::size_t edge) {
    const auto code = static_cast<std::uint8_t>(edge);
    const auto begin = begins_.begin();
    std::fill(begin + (halves - std::min(place, negative)),
              begin + (halves - std::min(filled, negative)), code);
    std::fill(begin + (std::max(filled, negative) - negative),
              begin + (std::max(place, negative) - negative), code);
    filled = place;
  };
  std::size_t together = 0;
  std::size_t most_together = 0;
  for (std::size_t i = 1; i < edges.size(); ++i) {
    const auto place = place_of(edges[i]);
    if (place >= filled) {
      fill_to(place + 1, i - 1);
      together = 0;
    }
    most_together = std::max(most_together, ++together);
  }
  fill_to(halves, edges.size() - 1);
  steps_ = static_cast<std::size_t>(std::bit_width(most_together));
}

// Whether an edge is reached cannot be predicted, so there is no branch.
template <std::size_t steps>
std::size_t Buckets::bisected(float element, std::size_t edge) const {
  if constexpr (steps == 0) {
    return edge;
  } else {
    constexpr auto step = std::size_t{1} << (steps - 1);
    const auto reached = static_cast<std::size_t>(element >= edges_[edge + step]);
    return bisected<steps - 1>(element, edge + reached * step);
  }
}

template <std::size_t steps>
void Buckets::find_by(std::uint8_t* buckets, const float* elements, std::size_t n) const {
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t begin = begins_[upper_half(elements[i])];
    buckets[i] = static_cast<std::uint8_t>(bisected<steps>(elements[i], begin));
  }
}

void Buckets::find(std::uint8_t* buckets, const float* elements, std::size_t n) const {
  static constexpr auto by_steps = []<std::size_t... steps>(std::index_sequence<steps...>) {
    return std::array{&Buckets::find_by<steps>...};
  }
  (std::make_index_sequence<std::bit_width(most)>());
  (this->*by_steps[steps_])(buckets, elements, n);
  if (some_are_alike_) {
    std::transform(buckets, buckets + n, buckets,
                   [&](std::uint8_t edge) { return buckets_[edge]; });
  }
}

}  // namespace tributary::host::sketch
