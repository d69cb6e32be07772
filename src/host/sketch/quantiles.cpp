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

#include "host/sketch/chance-inl.h"

#ifndef TRIBUTARY_HOST_SKETCH_RANGE
#define TRIBUTARY_HOST_SKETCH_RANGE
namespace tributary::host::sketch {
struct Range {
  float least = std::numeric_limits<float>::infinity();
  float greatest = -std::numeric_limits<float>::infinity();
  bool finite = true;
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

// Returns the last bucket that does not begin above the element. A gather takes as long as it does
// to compare with some thirty edges, so bisection, which has one for each step, begins behind
// these.
template <class D, class V>
HWY_INLINE auto bucket_of(D d, V element, const float* edges, std::size_t codes) {
  const hn::RebindToSigned<D> integers;
  const auto parts = std::min<std::size_t>(codes, 32);
  const auto part_codes = codes / parts;
  auto part = hn::Zero(integers);
  for (std::size_t i = 1; i < parts; ++i) {
    const auto reached = hn::Ge(element, hn::Set(d, edges[i * part_codes]));
    part = hn::Sub(part, hn::VecFromMask(integers, hn::RebindMask(integers, reached)));
  }
  auto bucket = hn::Mul(part, hn::Set(integers, static_cast<std::int32_t>(part_codes)));
  for (std::size_t step = part_codes / 2; step > 0; step /= 2) {
    const auto next = hn::Add(bucket, hn::Set(integers, static_cast<std::int32_t>(step)));
    const auto reached = hn::Ge(element, hn::GatherIndex(d, edges, next));
    bucket = hn::IfThenElse(hn::RebindMask(integers, reached), next, bucket);
  }
  return bucket;
}

// Goes up with a probability that is the element's part of the distance from the value below to the
// one above. There is none above the last: 0 / 0 is no reason to go there. Where the distance of
// some values is no f32, the half of all is.
template <class D, class V, class VI>
HWY_INLINE VI by_chance(D d, V element, VI below, const Quantiles& quantiles, const Chance& chance,
                        std::size_t index) {
  const hn::RebindToSigned<D> integers;
  const auto one = hn::Set(integers, 1);
  const auto last = hn::Set(integers, static_cast<std::int32_t>(quantiles.codes() - 1));
  const auto above = hn::Min(hn::Add(below, one), last);
  const auto* const values = quantiles.values.data();
  const float widest = quantiles.values[quantiles.codes() - 1] - quantiles.values[0];
  const auto scale = hn::Set(d, std::isinf(widest) ? 0.5f : 1.0f);
  const auto value = hn::Mul(hn::GatherIndex(d, values, below), scale);
  const auto distance = hn::Sub(hn::Mul(hn::GatherIndex(d, values, above), scale), value);
  const auto part = hn::Div(hn::Sub(hn::Mul(element, scale), value), distance);
  const auto up = hn::RebindMask(integers, hn::Lt(drawn(d, chance, index), part));
  return hn::IfThenElse(up, above, below);
}

// Encodes a whole chunk, a code a byte.
void encode_chunk(std::uint8_t* codes, const float* elements, const Quantiles& quantiles,
                  const Chance* chance, std::size_t first) {
  const hn::ScalableTag<float> d;
  const hn::Rebind<std::uint8_t, decltype(d)> bytes;
  for (std::size_t i = 0; i < chunk_elements; i += hn::Lanes(d)) {
    const auto element = hn::LoadU(d, elements + i);
    auto code = bucket_of(d, element, quantiles.edges.data(), quantiles.codes());
    if (chance != nullptr) {
      code = by_chance(d, element, code, quantiles, *chance, first + i);
    }
    hn::StoreU(hn::DemoteTo(bytes, code), bytes, codes + i);
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
HWY_EXPORT(encode_chunk);
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

// Draws a sample, and puts it in order. Precondition: all elements are finite.
std::vector<float> sample_of(std::span<const float> elements, const Range& range) {
  std::vector<float> sample(std::min(elements.size(), sample_elements));
  const auto stride = static_cast<double>(elements.size()) / static_cast<double>(sample.size());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    // Elements are not drawn at equal distances, which a matrix may have as well.
    const double within = static_cast<double>(mixed(i) >> 11) * 0x1p-53;
    const auto at = static_cast<std::size_t>((static_cast<double>(i) + within) * stride);
    sample[i] = elements[elements.size() == sample.size() ? i : std::min(at, elements.size() - 1)];
  }
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
  for_chunks(elements.size(), [&](std::size_t, std::size_t first, std::size_t n) {
    const WholeChunk whole(elements.data() + first, n);
    std::uint8_t found[chunk_elements];
    HWY_DYNAMIC_DISPATCH(encode_chunk)(found, whole.data(), quantiles, chance, first);
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
