// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "host/gradient_sketch.h"

namespace tributary::host::sketch {

// A matrix M as a product of two thin ones, left (rows x rank) and right (columns x rank): M is
// near left times the transpose of right. M lies row by row, the thin ones column by column, so
// that all loops run along what is contiguous.

constexpr std::size_t left_elements(const LowRank& shape) {
  return shape.rows * shape.rank;
}
constexpr std::size_t right_elements(const LowRank& shape) {
  return shape.columns * shape.rank;
}

// left = M right, and right = M^T left. These are rounded as the CPU has it, each rank's own.
void times(std::span<float> left, std::span<const float> matrix, std::span<const float> right,
           const LowRank& shape);
void transposed_times(std::span<float> right, std::span<const float> matrix,
                      std::span<const float> left, const LowRank& shape);

// M = left right^T. This has the same bits on every CPU, since all ranks have to come to them.
void expand(std::span<float> matrix, std::span<const float> left, std::span<const float> right,
            const LowRank& shape);
// M -= left right^T.
void subtract(std::span<float> matrix, std::span<const float> left, std::span<const float> right,
              const LowRank& shape);

// Makes columns of that length orthonormal, one after the other (Gram and Schmidt, twice, in f64).
// A column that is made of those before it becomes zeros. The bits are the same on every CPU. If
// some element is not finite, some element is not finite afterwards, either.
void orthonormalise(std::span<float> columns, std::size_t length);

// Makes the length of each column 1, but for those of zeros. The bits are the same on every CPU.
void normalise(std::span<float> columns, std::size_t length);

// Fills columns that are all zeros with what follows from the key alone.
void draw_missing(std::span<float> columns, std::size_t length, std::uint64_t key);

bool are_finite(std::span<const float> elements);

}  // namespace tributary::host::sketch
