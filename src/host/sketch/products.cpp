// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <vector>

#include "host/sketch/factors.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/sketch/products.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes before what is compiled per target.
#include <hwy/highway.h>

#include "host/sketch/row_blocks.h"

#ifndef TRIBUTARY_HOST_SKETCH_PRODUCTS
#define TRIBUTARY_HOST_SKETCH_PRODUCTS
namespace tributary::host::sketch {

// Few factors: these are in registers beside the rows of a block.
constexpr std::size_t block_factors = 2;

// Many: a thin matrix is packed in rows of so many factors, for a product with it. So many rows of
// these stay in the cache, and the sums of so many rows of the product.
constexpr std::size_t packed_factors = 64;
constexpr std::size_t packed_rows = 128;
constexpr std::size_t panel_rows = 96;
// Rows of the product that a kernel has in registers.
constexpr std::size_t product_rows = 6;
// Of the longest registers. All lengths are a power of two.
constexpr std::size_t lanes_max = 16;
static_assert(packed_factors % lanes_max == 0 && panel_rows % product_rows == 0);

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

// Adds to six rows of sums, each of one or two registers, the products of n elements of each of six
// vectors, which are `along` apart, with n packed rows.
template <bool two>
void add_products(float* sums, const float* const a[product_rows], std::size_t along,
                  const float* packed, std::size_t n) {
  const hn::CappedTag<float, lanes_max> d;
  const auto lanes = hn::Lanes(d);
  const auto of = [=](std::size_t row) { return sums + row * packed_factors; };
  const auto second = [=](const float* from) {
    return two ? hn::LoadU(d, from + lanes) : hn::Zero(d);
  };
  auto s0 = hn::LoadU(d, of(0)), s1 = hn::LoadU(d, of(1)), s2 = hn::LoadU(d, of(2));
  auto s3 = hn::LoadU(d, of(3)), s4 = hn::LoadU(d, of(4)), s5 = hn::LoadU(d, of(5));
  auto t0 = second(of(0)), t1 = second(of(1)), t2 = second(of(2));
  auto t3 = second(of(3)), t4 = second(of(4)), t5 = second(of(5));
  for (std::size_t j = 0; j < n; ++j) {
    const auto b = hn::LoadU(d, packed + j * packed_factors);
    const auto c = second(packed + j * packed_factors);
    const auto add = [&](auto& s, auto& t, const float* row) {
      const auto element = hn::Set(d, row[j * along]);
      s = hn::MulAdd(element, b, s);
      t = two ? hn::MulAdd(element, c, t) : t;
    };
    add(s0, t0, a[0]);
    add(s1, t1, a[1]);
    add(s2, t2, a[2]);
    add(s3, t3, a[3]);
    add(s4, t4, a[4]);
    add(s5, t5, a[5]);
  }
  const auto store = [=](auto s, auto t, std::size_t row) {
    hn::StoreU(s, d, of(row));
    if (two) {
      hn::StoreU(t, d, of(row) + lanes);
    }
  };
  store(s0, t0, 0);
  store(s1, t1, 1);
  store(s2, t2, 2);
  store(s3, t3, 3);
  store(s4, t4, 4);
  store(s5, t5, 5);
}

// Does that for so many factors, of which registers hold a part.
void product_block(float* sums, const float* const a[product_rows], std::size_t along,
                   const float* packed, std::size_t factors, std::size_t n) {
  const auto lanes = hn::Lanes(hn::CappedTag<float, lanes_max>());
  std::size_t k = 0;
  for (; k + lanes < factors; k += 2 * lanes) {
    add_products<true>(sums + k, a, along, packed + k, n);
  }
  if (k < factors) {
    add_products<false>(sums + k, a, along, packed + k, n);
  }
}

}  // namespace tributary::host::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::host::sketch {

HWY_EXPORT(dot_block);
HWY_EXPORT(add_block);
HWY_EXPORT(product_block);

namespace {

// With more factors than these, packing costs less than it saves.
constexpr std::size_t few = 8;

void times_few(std::span<float> left, std::span<const float> matrix, std::span<const float> right,
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

void transposed_times_few(std::span<float> right, std::span<const float> matrix,
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

// A matrix of so many rows and columns: how far the next row is from one, and the next element in
// a row.
struct Strided {
  const float* data;
  std::size_t rows;
  std::size_t columns;
  std::size_t down;
  std::size_t along;
};

// Puts columns `first` to `first + factors` beside each other, row by row.
void pack(std::vector<float>& packed, std::span<const float> columns, std::size_t length,
          std::size_t first, std::size_t factors) {
  for (std::size_t k = 0; k < factors; ++k) {
    const auto column = columns.subspan((first + k) * length, length);
    for (std::size_t j = 0; j < length; ++j) {
      packed[j * packed_factors + k] = column[j];
    }
  }
}

// Adds to the sums of some rows their products with what is packed.
void add_panel(float (*sums)[packed_factors], const Strided& m, std::size_t row, std::size_t rows,
               const std::vector<float>& packed, std::size_t factors) {
  for (std::size_t column = 0; column < m.columns; column += packed_rows) {
    const auto n = std::min(packed_rows, m.columns - column);
    for (std::size_t i = 0; i < rows; i += product_rows) {
      const float* a[product_rows];
      for (std::size_t of = 0; of < product_rows; ++of) {
        // Where there are fewer rows, the last one is there several times, and its sums are unused.
        a[of] = m.data + (row + std::min(i + of, rows - 1)) * m.down + column * m.along;
      }
      HWY_DYNAMIC_DISPATCH(product_block)
      (sums[i], a, m.along, packed.data() + column * packed_factors, factors, n);
    }
  }
}

// product = m times the columns, as many of them at a time as are packed.
void multiply(std::span<float> product, const Strided& m, std::span<const float> columns,
              std::size_t rank) {
  std::vector<float> packed(m.columns * packed_factors);
  for (std::size_t first = 0; first < rank; first += packed_factors) {
    const auto factors = std::min(packed_factors, rank - first);
    pack(packed, columns, m.columns, first, factors);
    for (std::size_t row = 0; row < m.rows; row += panel_rows) {
      const auto rows = std::min(panel_rows, m.rows - row);
      float sums[panel_rows][packed_factors] = {};
      add_panel(sums, m, row, rows, packed, factors);
      for (std::size_t k = 0; k < factors; ++k) {
        for (std::size_t i = 0; i < rows; ++i) {
          product[(first + k) * m.rows + row + i] = sums[i][k];
        }
      }
    }
  }
}

}  // namespace

void times(std::span<float> left, std::span<const float> matrix, std::span<const float> right,
           const LowRank& shape) {
  if (shape.rank <= few) {
    return times_few(left, matrix, right, shape);
  }
  multiply(left, {matrix.data(), shape.rows, shape.columns, shape.columns, 1}, right, shape.rank);
}

void transposed_times(std::span<float> right, std::span<const float> matrix,
                      std::span<const float> left, const LowRank& shape) {
  if (shape.rank <= few) {
    return transposed_times_few(right, matrix, left, shape);
  }
  multiply(right, {matrix.data(), shape.columns, shape.rows, 1, shape.columns}, left, shape.rank);
}

}  // namespace tributary::host::sketch
#endif
