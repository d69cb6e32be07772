// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/sketch/orthonormal.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes before what is compiled per target.
#include <hwy/highway.h>

#include "host/sketch/factors.h"

#ifndef TRIBUTARY_HOST_SKETCH_PARTIAL_SUMS
#define TRIBUTARY_HOST_SKETCH_PARTIAL_SUMS
namespace tributary::host::sketch {

// Element i is added to sum i modulo this, whatever the width of registers.
constexpr std::size_t partial_sums = 64;
// Of the longest registers, four of which hold some of the sums.
constexpr std::size_t lanes_max = partial_sums / 4;

}  // namespace tributary::host::sketch
#endif

HWY_BEFORE_NAMESPACE();
namespace tributary::host::sketch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// These go through `blocks` times partial_sums elements. Products are rounded before they are added
// (-ffp-contract=off), so that no CPU does otherwise.

using Wide = hn::CappedTag<double, lanes_max>;

template <typename T>
auto wide(const T* from) {
  if constexpr (std::is_same_v<T, float>) {
    return hn::PromoteTo(Wide(), hn::LoadU(hn::Rebind<float, Wide>(), from));
  } else {
    return hn::LoadU(Wide(), from);
  }
}

// As many sums at a time as registers hold.
template <typename T>
void add_products(double* sums, const double* a, const T* b, std::size_t blocks) {
  const Wide d;
  const auto lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < partial_sums; i += 4 * lanes) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const auto product = [=](std::size_t at) { return hn::Mul(wide(a + at), wide(b + at)); };
    for (auto at = i; at < blocks * partial_sums; at += partial_sums) {
      s0 = hn::Add(s0, product(at));
      s1 = hn::Add(s1, product(at + lanes));
      s2 = hn::Add(s2, product(at + 2 * lanes));
      s3 = hn::Add(s3, product(at + 3 * lanes));
    }
    hn::StoreU(s0, d, sums + i);
    hn::StoreU(s1, d, sums + i + lanes);
    hn::StoreU(s2, d, sums + i + 2 * lanes);
    hn::StoreU(s3, d, sums + i + 3 * lanes);
  }
}

void dot(double* sums, const double* a, const float* b, std::size_t blocks) {
  add_products(sums, a, b, blocks);
}
void dot_wide(double* sums, const double* a, const double* b, std::size_t blocks) {
  add_products(sums, a, b, blocks);
}

void take_away(double* a, double factor, const float* b, std::size_t blocks) {
  const Wide d;
  const auto factors = hn::Set(d, factor);
  for (std::size_t i = 0; i < blocks * partial_sums; i += hn::Lanes(d)) {
    hn::StoreU(hn::Sub(wide(a + i), hn::Mul(wide(b + i), factors)), d, a + i);
  }
}

}  // namespace tributary::host::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::host::sketch {

HWY_EXPORT(dot);
HWY_EXPORT(dot_wide);
HWY_EXPORT(take_away);

namespace {

// If no more than this part of a column is left beside the others, it is what f32 rounded, and not
// at right angles to them.
constexpr double least_part = 1e-6;

// Returns the sum of the products of two columns. The partial sums are added by halves.
template <typename Products, typename T>
double product_of(Products add_products, std::span<const double> a, std::span<const T> b) {
  double sums[partial_sums] = {};
  const auto blocks = a.size() / partial_sums;
  add_products(sums, a.data(), b.data(), blocks);
  for (auto half = partial_sums / 2; half != 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) {
      sums[i] += sums[i + half];
    }
  }
  double sum = sums[0];
  for (auto i = blocks * partial_sums; i < a.size(); ++i) {
    sum += a[i] * static_cast<double>(b[i]);
  }
  return sum;
}

// A column in f64, from which what is in others is taken away.
class WideColumn {
 public:
  explicit WideColumn(std::size_t length) : elements_(length) {}

  void read(std::span<const float> column) { elements_.assign(column.begin(), column.end()); }
  void take_away(std::span<const float> unit) {
    const double part = product_of(HWY_DYNAMIC_DISPATCH(dot), wide(), unit);
    const auto blocks = elements_.size() / partial_sums;
    HWY_DYNAMIC_DISPATCH(take_away)(elements_.data(), part, unit.data(), blocks);
    for (auto i = blocks * partial_sums; i < elements_.size(); ++i) {
      elements_[i] -= part * static_cast<double>(unit[i]);
    }
  }
  double norm() const {
    return std::sqrt(product_of(HWY_DYNAMIC_DISPATCH(dot_wide), wide(), wide()));
  }
  void write(std::span<float> column, double factor) const {
    for (std::size_t i = 0; i < column.size(); ++i) {
      column[i] = static_cast<float>(elements_[i] * factor);
    }
  }

 private:
  std::span<const double> wide() const { return elements_; }

  std::vector<double> elements_;
};

}  // namespace

void orthonormalise(std::span<float> columns, std::size_t length) {
  WideColumn wide(length);
  for (std::size_t first = 0; first < columns.size(); first += length) {
    const auto column = columns.subspan(first, length);
    wide.read(column);
    const double whole = wide.norm();
    for (int pass = 0; pass < 2; ++pass) {
      for (std::size_t before = 0; before < first; before += length) {
        wide.take_away(columns.subspan(before, length));
      }
    }
    const double norm = wide.norm();
    wide.write(column, norm <= least_part * whole ? 0 : 1 / norm);
  }
}

void normalise(std::span<float> columns, std::size_t length) {
  WideColumn wide(length);
  for (std::size_t first = 0; first < columns.size(); first += length) {
    const auto column = columns.subspan(first, length);
    wide.read(column);
    const double norm = wide.norm();
    wide.write(column, norm == 0 ? 0 : 1 / norm);
  }
}

}  // namespace tributary::host::sketch
#endif
