// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "host/sparse_vector.h"
#include "reduce/scalar.h"

namespace tributary {

// These select which elements of a vector are sent. Zeros never are; a NaN always is, as it counts
// as greatest.
struct TopK {  // the k of the greatest magnitude; of equal ones the first
  std::size_t k = 0;
};
struct AtLeast {  // all of this magnitude or more
  double magnitude = 0;
};
using Selection = std::variant<TopK, AtLeast>;

// Keeps what of a rank's vectors was not sent, and adds it to the next vector. An element is either
// sent or kept back as a whole, so that nothing is lost and nothing is sent twice.
template <typename T>
class ErrorFeedback {
 public:
  // It serves vectors of `count` elements, at most sparse_count_max.
  explicit ErrorFeedback(std::size_t count) : residual_(count) {}

  std::span<const T> residual() const { return residual_; }

  // Adds `in` to what was kept back, takes what is to be sent out of that, and returns it.
  // Precondition: `in` is as long as the residual.
  SparseVector<T> take(std::span<const T> in, const Selection& selection) {
    std::transform(in.begin(), in.end(), residual_.begin(), residual_.begin(), reduce::plus<T>);
    return std::visit([this](const auto& by) { return this->take(by); }, selection);
  }

  // Keeps `taken` back as well, as it did not reach the others.
  void give_back(const SparseVector<T>& taken) {
    for (std::size_t i = 0; i < taken.indices.size(); ++i) {
      auto& kept = residual_[taken.indices[i]];
      kept = reduce::plus(kept, taken.values[i]);
    }
  }

 private:
  // Magnitudes are compared as unsigned integers of the element's width, which have the same order:
  // a float's is its bits without the sign.
  using Magnitude = std::conditional_t<
      sizeof(T) == 1, std::uint8_t,
      std::conditional_t<sizeof(T) == 2, std::uint16_t,
                         std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;
  static Magnitude magnitude(T value) {
    if constexpr (std::is_integral_v<T>) {
      const auto bits = static_cast<Magnitude>(value);
      return value < 0 ? static_cast<Magnitude>(Magnitude{0} - bits) : bits;
    } else {
      const auto all = static_cast<Magnitude>(~Magnitude{0});
      return static_cast<Magnitude>(std::bit_cast<Magnitude>(value) & (all >> 1));
    }
  }
  static double absolute(T value) {
    if constexpr (reduce::is_float16<T>) {
      return std::fabs(static_cast<float>(value));
    } else {
      return std::fabs(static_cast<double>(value));
    }
  }

  SparseVector<T> take(const TopK& by) {
    std::vector<Magnitude> magnitudes;
    for (const T value : residual_) {
      if (!reduce::is_zero(value)) {
        magnitudes.push_back(magnitude(value));
      }
    }
    const auto k = std::min(by.k, magnitudes.size());
    if (k == 0) {
      return take_where([](T) { return false; });
    }
    const auto last = magnitudes.begin() + static_cast<std::ptrdiff_t>(k - 1);
    std::nth_element(magnitudes.begin(), last, magnitudes.end(), std::greater<>());
    const auto least = *last;
    auto ties = static_cast<std::size_t>(std::count(magnitudes.begin(), last + 1, least));
    return take_where([least, ties](T value) mutable {
      const auto here = magnitude(value);
      const bool is_tie = here == least && ties != 0;
      ties -= is_tie ? 1 : 0;
      return here > least || is_tie;
    });
  }
  SparseVector<T> take(const AtLeast& by) {
    return take_where([&by](T value) { return !(absolute(value) < by.magnitude); });
  }
  template <typename Wanted>
  SparseVector<T> take_where(Wanted wanted) {
    SparseVector<T> taken{residual_.size(), {}, {}};
    for (std::size_t i = 0; i < residual_.size(); ++i) {
      if (!reduce::is_zero(residual_[i]) && wanted(residual_[i])) {
        taken.indices.push_back(static_cast<std::uint32_t>(i));
        taken.values.push_back(std::exchange(residual_[i], T{}));
      }
    }
    return taken;
  }

  std::vector<T> residual_;
};

}  // namespace tributary
