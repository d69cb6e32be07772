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
#include "host/sketch/row_blocks.h"

HWY_BEFORE_NAMESPACE();
namespace tributary::host::sketch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

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

HWY_EXPORT(expand_block);

namespace {

// The coefficients of a block lie together for so many factors.
constexpr std::size_t coefficients_max = 64;

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
