// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/quantiles.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <hwy/contrib/sort/vqsort.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/sketch/quantiles.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes before what is compiled per target.
#include <hwy/highway.h>

#include "host/sketch/buckets.h"
#include "host/sketch/chance-inl.h"

#ifndef TRIBUTARY_HOST_SKETCH_RANGE
#define TRIBUTARY_HOST_SKETCH_RANGE
namespace tributary::host::sketch {
struct Range {
  float least = std::numeric_limits<float>::infinity();
  float greatest = -std::numeric_limits<float>::infinity();
  bool finite = true;
};

// A value and its distance to the one above.
struct Gap {
  float value;
  float width;
};

// The gaps behind all values: none behind the last. Where the width of some is no f32, the half of
// all counts.
struct Gaps {
  explicit Gaps(const Quantiles& quantiles) {
    const auto& values = quantiles.values;
    const auto last = quantiles.codes() - 1;
    scale = std::isinf(values[last] - values[0]) ? 0.5f : 1.0f;
    for (std::size_t i = 0; i <= last; ++i) {
      const float value = values[i] * scale;
      behind[i] = {value, values[std::min(i + 1, last)] * scale - value};
    }
  }

  float scale;
  std::array<Gap, codes_max> behind;
};
}  // namespace tributary::host::sketch
#endif

HWY_BEFORE_NAMESPACE();
namespace tributary::host::sketch::HWY_NAMESPACE {

// Adds a whole chunk to the range that was found before.
void widen(Range& range, const float* elements) {
  const hn::ScalableTag<float> d;
  auto least = hn::Set(d, range.least);
  auto greatest = hn::Set(d, range.greatest);
  auto sum = hn::Zero(d);  // a sum of zeros, unless something is not finite
  for (std::size_t i = 0; i < chunk_elements; i += hn::Lanes(d)) {
    const auto element = hn::LoadU(d, elements + i);
    least = hn::Min(least, element);
    greatest = hn::Max(greatest, element);
    sum = hn::Add(sum, hn::Sub(element, element));
  }
  range.least = hn::GetLane(hn::MinOfLanes(d, least));
  range.greatest = hn::GetLane(hn::MaxOfLanes(d, greatest));
  range.finite = range.finite && hn::GetLane(hn::SumOfLanes(d, sum)) == 0;
}

// Adds 1 to the codes of a chunk's elements with a probability that is the element's part of the
// gap behind its value. Of no gap it is 0 / 0, which is no reason to go up.
void go_up_by_chance(std::uint8_t* codes, const float* elements, const Gaps& gaps,
                     const Chance& chance, std::size_t first) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  Gap of_elements[chunk_elements];
  for (std::size_t i = 0; i < chunk_elements; ++i) {
    of_elements[i] = gaps.behind[codes[i]];
  }
  const auto scale = hn::Set(d, gaps.scale);
  for (std::size_t i = 0; i < chunk_elements; i += hn::Lanes(d)) {
    hn::Vec<decltype(d)> value;
    hn::Vec<decltype(d)> width;
    hn::LoadInterleaved2(d, &of_elements[i].value, value, width);
    const auto element = hn::Mul(hn::LoadU(d, elements + i), scale);
    const auto part = hn::Div(hn::Sub(element, value), width);
    const auto up = hn::RebindMask(integers, hn::Lt(drawn(d, chance, first + i), part));
    const auto code = hn::PromoteTo(integers, hn::LoadU(bytes, codes + i));
    const auto chosen = hn::Sub(code, hn::VecFromMask(integers, up));
    hn::StoreU(hn::DemoteTo(bytes, chosen), bytes, codes + i);
  }
}

void decode_chunk(float* elements, const std::uint8_t* codes, const float* values) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> integers;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  for (std::size_t i = 0; i < chunk_elements; i += hn::Lanes(d)) {
    const auto code = hn::PromoteTo(integers, hn::LoadU(bytes, codes + i));
    hn::StoreU(hn::GatherIndex(d, values, code), d, elements + i);
  }
}

}  // namespace tributary::host::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::host::sketch {

HWY_EXPORT(widen);
HWY_EXPORT(go_up_by_chance);
HWY_EXPORT(decode_chunk);

namespace {

Range range_of(std::span<const float> elements) {
  Range range;
  for_chunks(elements.size(), [&](std::size_t, std::size_t first, std::size_t n) {
    if (n == chunk_elements) {
      HWY_DYNAMIC_DISPATCH(widen)(range, elements.data() + first);
      return;
    }
    // The chunk is filled up with an element of its own: a zero may be beyond all of them.
    float padded[chunk_elements];
    std::fill(std::copy_n(elements.data() + first, n, padded), padded + chunk_elements,
              elements[first]);
    HWY_DYNAMIC_DISPATCH(widen)(range, padded);
  });
  return range;
}

// Draws one element of each stretch, but not at equal distances, which a matrix may have as well.
std::vector<float> drawn_from(std::span<const float> elements) {
  std::vector<float> sample(sample_elements);
  const auto stride = static_cast<double>(elements.size()) / static_cast<double>(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double within = static_cast<double>(mixed(i) >> 11) * 0x1p-53;
    const auto at = static_cast<std::size_t>((static_cast<double>(i) + within) * stride);
    sample[i] = elements[std::min(at, elements.size() - 1)];
  }
  return sample;
}

// Puts all elements, or a sample of many, in order. Precondition: all are finite.
std::vector<float> sample_of(std::span<const float> elements, const Range& range) {
  auto sample = elements.size() > sample_elements
                    ? drawn_from(elements)
                    : std::vector<float>(elements.begin(), elements.end());
  const hwy::Sorter sort;
  sort(sample.data(), sample.size(), hwy::SortAscending());
  sample.front() = range.least;
  sample.back() = range.greatest;
  return sample;
}

// Returns one of the quantiles that divide the sample equally, from its first element to its last.
float quantile(std::span<const float> sample, std::size_t i, std::size_t divisions) {
  return sample[(i * (sample.size() - 1) + divisions / 2) / divisions];
}

// Returns the value of a bucket, which lies in it: the mean of neighbours among floats may be
// rounded to the bucket's end, which the next bucket begins with.
float middle(float begin, float end) {
  const auto mean = static_cast<float>((static_cast<double>(begin) + static_cast<double>(end)) / 2);
  return mean < end ? mean : begin;
}

}  // namespace

Quantiles quantiles_of(std::span<const float> elements, unsigned bits, Rounding rounding) {
  Quantiles made;
  made.bits = bits;
  const auto range = range_of(elements);
  if (!range.finite) {
    made.values.fill(std::numeric_limits<float>::quiet_NaN());
    return made;
  }
  const auto sample = sample_of(elements, range);
  const auto codes = made.codes();
  for (std::size_t i = 0; i < codes; ++i) {
    if (rounding == Rounding::stochastic) {
      made.edges[i] = made.values[i] = quantile(sample, i, codes - 1);
    } else {
      made.edges[i] = quantile(sample, i, codes);
      made.values[i] = middle(made.edges[i], quantile(sample, i + 1, codes));
    }
  }
  return made;
}

void encode(std::byte* codes, std::span<const float> elements, const Quantiles& quantiles,
            const Chance* chance) {
  const Buckets buckets(std::span(quantiles.edges).first(quantiles.codes()));
  const Gaps gaps(quantiles);
  for_chunks(elements.size(), [&](std::size_t, std::size_t first, std::size_t n) {
    const WholeChunk whole(elements.data() + first, n);
    std::uint8_t found[chunk_elements];
    buckets.find(found, whole.data(), chunk_elements);
    if (chance != nullptr) {
      HWY_DYNAMIC_DISPATCH(go_up_by_chance)(found, whole.data(), gaps, *chance, first);
    }
    pack(reinterpret_cast<std::uint8_t*>(codes) + packed_bytes(first, quantiles.bits), found, n,
         quantiles.bits);
  });
}

void decode(std::span<float> elements, const std::byte* codes, std::span<const float> values,
            unsigned bits) {
  for_chunks(elements.size(), [&](std::size_t, std::size_t first, std::size_t n) {
    std::uint8_t found[chunk_elements] = {};
    unpack(found, reinterpret_cast<const std::uint8_t*>(codes) + packed_bytes(first, bits), n,
           bits);
    float decoded[chunk_elements];
    HWY_DYNAMIC_DISPATCH(decode_chunk)(decoded, found, values.data());
    std::copy_n(decoded, n, elements.data() + first);
  });
}

}  // namespace tributary::host::sketch
#endif
