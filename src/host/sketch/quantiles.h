// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/gradient_sketch.h"
#include "host/sketch/chance.h"
#include "host/sketch/chunks.h"

namespace tributary::host::sketch {

inline constexpr std::size_t codes_max = 256;
// So many elements of a longer vector are drawn, one from each of as many equal ranges, to find the
// quantiles, beside the least and the greatest of all.
inline constexpr std::size_t sample_elements = std::size_t{1} << 16;

// The sketch of the gradient sketch paper (4.3.1): elements are put into 2^bits buckets, as many
// into each, as far as elements differ.
struct Quantiles {
  unsigned bits = 8;
  // Bucket i begins here, but for the first, which has all below the second. Edges do not decrease.
  std::array<float, codes_max> edges{};
  // Code i stands for this value. By rounding to nearest it is the mean of a bucket's two
  // quantiles; by chance it is the quantile itself, from the least element to the greatest, so that
  // each element has one below and one above. All of them are NaN if some element is not finite.
  std::array<float, codes_max> values{};

  std::size_t codes() const { return std::size_t{1} << bits; }
};

// Precondition: there is an element or more; 8, 4 or 2 bits.
Quantiles quantiles_of(std::span<const float> elements, unsigned bits, Rounding rounding);

// Gives elements the code of their bucket or, if `chance` is not null, by chance that or the one
// above. Codes lie packed.
void encode(std::byte* codes, std::span<const float> elements, const Quantiles& quantiles,
            const Chance* chance);

// Writes the values that codes of so many bits stand for. Precondition: there are 2^bits values.
void decode(std::span<float> elements, const std::byte* codes, std::span<const float> values,
            unsigned bits);

}  // namespace tributary::host::sketch
