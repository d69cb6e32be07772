// SPDX-License-Identifier: BSD-3-Clause
#include "host/sketch/factors.h"

#include <algorithm>
#include <bit>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/sketch/factors.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes before what is compiled per target.
#include <hwy/highway.h>

#include "host/sketch/chance.h"

#ifndef TRIBUTARY_HOST_SKETCH_BLOCKS
#define TRIBUTARY_HOST_SKETCH_BLOCKS
namespace tributary::host::sketch {

// So many columns are gone through at once: those of a few rows, and of right, stay in the cache.
constexpr std::size_t tile_columns = 512;
// Rows of a matrix, and factors, that a kernel has in registers.
constexpr std::size_t block_rows = 4;
constexpr std::size_t block_factors = 2;
// The coefficients of a block lie together for so many factors.
constexpr std::size_t coefficients_max = 64;

}  // namespace tributary::host::sketch
#endif

HWY_BEFORE_NAMESPACE();
namespace tributary::host::sketch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Finds the products of four rows with two columns of right, n elements of each: dots[row][factor].
void dot_block(float dots[block_rows][block_factors], const float* const m[block_rows],
               const float* const right[block_factors], std::size_t n) {
  const hn::ScalableTag<float> d;
  auto s00 = hn::Zero(d), s01 = s00, s10 = s00, s11 = s00;
  auto s20 = s00, s21 = s00, s30 = s00, s31 = s00;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= n; j += hn::Lanes(d)) {
    const auto r0 = hn::LoadU(d, right[0] + j);
    const auto r1 = hn::LoadU(d, right[1] + j);
    const auto m0 = hn::LoadU(d, m[0] + j);
    const auto m1 = hn::LoadU(d, m[1] + j);
    const auto m2 = hn::LoadU(d, m[2] + j);
    const auto m3 = hn::LoadU(d, m[3] + j);
    s00 = hn::MulAdd(m0, r0, s00);
    s01 = hn::MulAdd(m0, r1, s01);
    s10 = hn::MulAdd(m1, r0, s10);
    s11 = hn::MulAdd(m1, r1, s11);
    s20 = hn::MulAdd(m2, r0, s20);
    s21 = hn::MulAdd(m2, r1, s21);
    s30 = hn::MulAdd(m3, r0, s30);
    s31 = hn::MulAdd(m3, r1, s31);
  }
  const auto sum = [d](auto lanes) { return hn::GetLane(hn::SumOfLanes(d, lanes)); };
  const float sums[block_rows][block_factors] = {
      {sum(s00), sum(s01)}, {sum(s10), sum(s11)}, {sum(s20), sum(s21)}, {sum(s30), sum(s31)}};
  for (std::size_t row = 0; row < block_rows; ++row) {
    for (std::size_t factor = 0; factor < block_factors; ++factor) {
      float rest = 0;
      for (std::size_t i = j; i < n; ++i) {
        rest += m[row][i] * right[factor][i];
      }
      dots[row][factor] = sums[row][factor] + rest;
    }
  }
}

// Adds four rows, each times a coefficient, to two columns of right.
void add_block(float* const right[block_factors], const float* const m[block_rows],
               const float by[block_rows][block_factors], std::size_t n) {
  const hn::ScalableTag<float> d;
  const auto b00 = hn::Set(d, by[0][0]), b01 = hn::Set(d, by[0][1]);
  const auto b10 = hn::Set(d, by[1][0]), b11 = hn::Set(d, by[1][1]);
  const auto b20 = hn::Set(d, by[2][0]), b21 = hn::Set(d, by[2][1]);
  const auto b30 = hn::Set(d, by[3][0]), b31 = hn::Set(d, by[3][1]);
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= n; j += hn::Lanes(d)) {
    const auto m0 = hn::LoadU(d, m[0] + j);
    const auto m1 = hn::LoadU(d, m[1] + j);
    const auto m2 = hn::LoadU(d, m[2] + j);
    const auto m3 = hn::LoadU(d, m[3] + j);
    auto r0 = hn::MulAdd(m0, b00, hn::LoadU(d, right[0] + j));
    auto r1 = hn::MulAdd(m0, b01, hn::LoadU(d, right[1] + j));
    r0 = hn::MulAdd(m2, b20, hn::MulAdd(m1, b10, r0));
    r1 = hn::MulAdd(m2, b21, hn::MulAdd(m1, b11, r1));
    hn::StoreU(hn::MulAdd(m3, b30, r0), d, right[0] + j);
    hn::StoreU(hn::MulAdd(m3, b31, r1), d, right[1] + j);
  }
  for (; j < n; ++j) {
    for (std::size_t row = 0; row < block_rows; ++row) {
      right[0][j] += m[row][j] * by[row][0];
      right[1][j] += m[row][j] * by[row][1];
    }
  }
}

// Adds to n elements of four rows the products of so many factors, one after the other; each is
// rounded before it is added, so that no CPU does otherwise.
void expand_block(float* const m[block_rows], const float (*by)[block_rows], const float* right,
                  std::size_t stride, std::size_t factors, std::size_t n) {
  const hn::ScalableTag<float> d;
  std::size_t j = 0;
  for (; j + hn::Lanes(d) <= n; j += hn::Lanes(d)) {
    auto m0 = hn::LoadU(d, m[0] + j);
    auto m1 = hn::LoadU(d, m[1] + j);
    auto m2 = hn::LoadU(d, m[2] + j);
    auto m3 = hn::LoadU(d, m[3] + j);
    for (std::size_t k = 0; k < factors; ++k) {
      const auto r = hn::LoadU(d, right + k * stride + j);
      m0 = hn::Add(m0, hn::Mul(r, hn::Set(d, by[k][0])));
      m1 = hn::Add(m1, hn::Mul(r, hn::Set(d, by[k][1])));
      m2 = hn::Add(m2, hn::Mul(r, hn::Set(d, by[k][2])));
      m3 = hn::Add(m3, hn::Mul(r, hn::Set(d, by[k][3])));
    }
    hn::StoreU(m0, d, m[0] + j);
    hn::StoreU(m1, d, m[1] + j);
    hn::StoreU(m2, d, m[2] + j);
    hn::StoreU(m3, d, m[3] + j);
  }
  for (; j < n; ++j) {
    for (std::size_t row = 0; row < block_rows; ++row) {
      for (std::size_t k = 0; k < factors; ++k) {
        m[row][j] += right[k * stride + j] * by[k][row];
      }
    }
  }
}

}  // namespace tributary::host::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::host::sketch {

HWY_EXPORT(dot_block);
HWY_EXPORT(add_block);
HWY_EXPORT(expand_block);

namespace {

// Calls f(first row, how many, first column, how many): all rows of some columns, then the next.
template <typename F>
void for_blocks(const LowRank& shape, F f) {
  for (std::size_t column = 0; column < shape.columns; column += tile_columns) {
    const auto n = std::min(tile_columns, shape.columns - column);
    for (std::size_t row = 0; row < shape.rows; row += block_rows) {
      f(row, std::min(block_rows, shape.rows - row), column, n);
    }
  }
}

// Where a block is not full, its last row is there several times, or nothing counts for it.
template <typename T>
struct RowsOf {
  RowsOf(T* matrix, const LowRank& shape, std::size_t row, std::size_t rows, std::size_t column) {
    for (std::size_t i = 0; i < block_rows; ++i) {
      at[i] = matrix + (row + std::min(i, rows - 1)) * shape.columns + column;
    }
  }
  T* at[block_rows];
};

// M += sign left right^T, by so many factors at a time as have room.
void add_product(std::span<float> matrix, std::span<const float> left, std::span<const float> right,
                 const LowRank& shape, float sign) {
  float unused[tile_columns] = {};
  float by[coefficients_max][block_rows];
  for_blocks(shape, [&](std::size_t row, std::size_t rows, std::size_t column, std::size_t n) {
    RowsOf<float> m(matrix.data(), shape, row, rows, column);
    std::fill(m.at + rows, m.at + block_rows, &unused[0]);
    for (std::size_t k = 0; k < shape.rank; k += coefficients_max) {
      const auto factors = std::min(coefficients_max, shape.rank - k);
      for (std::size_t of = 0; of < factors; ++of) {
        for (std::size_t i = 0; i < block_rows; ++i) {
          by[of][i] = i < rows ? sign * left[(k + of) * shape.rows + row + i] : 0.0f;
        }
      }
      HWY_DYNAMIC_DISPATCH(expand_block)
      (m.at, by, right.data() + k * shape.columns + column, shape.columns, factors, n);
    }
  });
}

}  // namespace

void times(std::span<float> left, std::span<const float> matrix, std::span<const float> right,
           const LowRank& shape) {
  std::fill(left.begin(), left.end(), 0.0f);
  for_blocks(shape, [&](std::size_t row, std::size_t rows, std::size_t column, std::size_t n) {
    const RowsOf<const float> m(matrix.data(), shape, row, rows, column);
    for (std::size_t k = 0; k < shape.rank; k += block_factors) {
      const auto last = std::min(k + 1, shape.rank - 1);
      const float* const columns[] = {right.data() + k * shape.columns + column,
                                      right.data() + last * shape.columns + column};
      float dots[block_rows][block_factors];
      HWY_DYNAMIC_DISPATCH(dot_block)(dots, m.at, columns, n);
      for (auto factor = k; factor <= last; ++factor) {
        for (std::size_t i = 0; i < rows; ++i) {
          left[factor * shape.rows + row + i] += dots[i][factor - k];
        }
      }
    }
  });
}

void transposed_times(std::span<float> right, std::span<const float> matrix,
                      std::span<const float> left, const LowRank& shape) {
  std::fill(right.begin(), right.end(), 0.0f);
  float unused[tile_columns] = {};
  for_blocks(shape, [&](std::size_t row, std::size_t rows, std::size_t column, std::size_t n) {
    const RowsOf<const float> m(matrix.data(), shape, row, rows, column);
    for (std::size_t k = 0; k < shape.rank; k += block_factors) {
      const bool both = k + 1 < shape.rank;
      float* const columns[] = {right.data() + k * shape.columns + column,
                                both ? right.data() + (k + 1) * shape.columns + column : unused};
      float by[block_rows][block_factors] = {};
      for (std::size_t i = 0; i < rows; ++i) {
        by[i][0] = left[k * shape.rows + row + i];
        by[i][1] = both ? left[(k + 1) * shape.rows + row + i] : 0.0f;
      }
      HWY_DYNAMIC_DISPATCH(add_block)(columns, m.at, by, n);
    }
  });
}

void expand(std::span<float> matrix, std::span<const float> left, std::span<const float> right,
            const LowRank& shape) {
  std::fill(matrix.begin(), matrix.end(), 0.0f);
  add_product(matrix, left, right, shape, 1);
}

void subtract(std::span<float> matrix, std::span<const float> left, std::span<const float> right,
              const LowRank& shape) {
  add_product(matrix, left, right, shape, -1);
}

void draw_missing(std::span<float> columns, std::size_t length, std::uint64_t key) {
  for (std::size_t first = 0; first < columns.size(); first += length) {
    const auto column = columns.subspan(first, length);
    if (std::any_of(column.begin(), column.end(), [](float x) { return x != 0; })) {
      continue;
    }
    for (std::size_t i = 0; i < length; ++i) {
      column[i] = static_cast<float>(mixed(key ^ mixed(first + i)) >> 40) * 0x1p-23f - 1;
    }
  }
}

bool are_finite(std::span<const float> elements) {
  std::uint32_t greatest = 0;
  for (const float element : elements) {
    greatest = std::max(greatest, std::bit_cast<std::uint32_t>(element) & 0x7fffffff);
  }
  return greatest < 0x7f800000;
}

}  // namespace tributary::host::sketch
#endif
