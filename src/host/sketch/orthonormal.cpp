// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <cstddef>
#include <span>
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

// Element i is added to sum i modulo this, whatever the width of registers, of which it is a
// multiple.
constexpr std::size_t partial_sums = 64;

}  // namespace tributary::host::sketch
#endif

HWY_BEFORE_NAMESPACE();
namespace tributary::host::sketch::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// These go through `blocks` times partial_sums elements. Products are rounded before they are added
// (-ffp-contract=off), so that no CPU does otherwise.

void dot(double* sums, const double* a, const float* b, std::size_t blocks) {
  const hn::CappedTag<double, partial_sums> d;
  const hn::Rebind<float, decltype(d)> narrow;
  for (std::size_t block = 0; block < blocks; ++block) {
    for (std::size_t i = 0; i < partial_sums; i += hn::Lanes(d)) {
      const auto wide = hn::PromoteTo(d, hn::LoadU(narrow, b + i));
      const auto product = hn::Mul(hn::LoadU(d, a + i), wide);
      hn::StoreU(hn::Add(hn::LoadU(d, sums + i), product), d, sums + i);
    }
    a += partial_sums;
    b += partial_sums;
  }
}

void take_away(double* a, double factor, const float* b, std::size_t blocks) {
  const hn::CappedTag<double, partial_sums> d;
  const hn::Rebind<float, decltype(d)> narrow;
  const auto factors = hn::Set(d, factor);
  for (std::size_t i = 0; i < blocks * partial_sums; i += hn::Lanes(d)) {
    const auto product = hn::Mul(hn::PromoteTo(d, hn::LoadU(narrow, b + i)), factors);
    hn::StoreU(hn::Sub(hn::LoadU(d, a + i), product), d, a + i);
  }
}

}  // namespace tributary::host::sketch::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tributary::host::sketch {

HWY_EXPORT(dot);
HWY_EXPORT(take_away);

namespace {

// If no more than this part of a column is left beside the others, it is what f32 rounded, and not
// at right angles to them.
constexpr double least_part = 1e-6;

// A column in f64, from which what is in others is taken away.
class WideColumn {
 public:
  explicit WideColumn(std::size_t length) : elements_(length) {}

  void read(std::span<const float> column) { elements_.assign(column.begin(), column.end()); }
  void take_away(std::span<const float> unit) {
    const double part = dot(unit);
    const auto blocks = elements_.size() / partial_sums;
    HWY_DYNAMIC_DISPATCH(take_away)(elements_.data(), part, unit.data(), blocks);
    for (auto i = blocks * partial_sums; i < elements_.size(); ++i) {
      elements_[i] -= part * static_cast<double>(unit[i]);
    }
  }
  double norm() const {
    double squares = 0;
    for (const double element : elements_) {
      squares += element * element;
    }
    return std::sqrt(squares);
  }
  void write(std::span<float> column, double factor) const {
    for (std::size_t i = 0; i < column.size(); ++i) {
      column[i] = static_cast<float>(elements_[i] * factor);
    }
  }

 private:
  double dot(std::span<const float> unit) const {
    double sums[partial_sums] = {};
    const auto blocks = elements_.size() / partial_sums;
    HWY_DYNAMIC_DISPATCH(dot)(sums, elements_.data(), unit.data(), blocks);
    double sum = 0;
    for (const double partial : sums) {
      sum += partial;
    }
    for (auto i = blocks * partial_sums; i < elements_.size(); ++i) {
      sum += elements_[i] * static_cast<double>(unit[i]);
    }
    return sum;
  }

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

}  // namespace tributary::host::sketch
#endif
