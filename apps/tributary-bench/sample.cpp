// SPDX-License-Identifier: BSD-3-Clause
#include "sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "handler_sample.h"
#include "reduce/combine.h"
#include "sample_arithmetic.h"
#include "sample_elements.h"
#include "sample_types.h"

namespace tributary::bench {
namespace {

template <typename T>
class TypedSample final : public Sample {
  using Wide = typename Format<T>::Wide;
  using Bound = typename Format<T>::Bound;

 public:
  explicit TypedSample(const Problem& problem) : problem_(problem) {
    input_.resize(problem.count);
    low_.resize(problem.count);
    if (!exact()) {
      high_.resize(problem.count);
    }
    for (std::size_t i = 0; i < problem.count; ++i) {
      input_[i] = element<T>(problem, problem.rank, i);
    }
    constexpr std::size_t chunk = 1024;  // the reference of one chunk stays in the cache
    for (std::size_t i = 0; i < problem.count; i += chunk) {
      expect(i, std::min(chunk, problem.count - i));
    }
  }

  void fill(std::size_t iteration, void* buffer) const override {
    const std::size_t shift = rotation(iteration);
    const std::size_t head = problem_.count - shift;
    if (problem_.count > 0) {
      std::memcpy(buffer, input_.data() + shift, head * sizeof(T));
      std::memcpy(static_cast<std::byte*>(buffer) + head * sizeof(T), input_.data(),
                  shift * sizeof(T));
    }
  }

  std::uint64_t wrong_results(std::size_t iteration, const void* result) const override {
    return count_if(iteration, result, [this](std::size_t i, T got) {
      if constexpr (is_exact_type<T>) {
        return got != low_[i];
      } else {
        const auto value = static_cast<Bound>(got);
        const Bound high = exact() ? low_[i] : high_[i];
        return !(low_[i] <= value && value <= high);  // a NaN is wrong, too
      }
    });
  }

  std::uint64_t wrong_inputs(std::size_t iteration, const void* input) const override {
    return count_if(iteration, input, [this](std::size_t i, T got) {
      return std::memcmp(&got, &input_[i], sizeof(T)) != 0;
    });
  }

 private:
  bool exact() const {
    return is_exact_type<T> || is_float8<T> || problem_.op == wire::Operator::min ||
           problem_.op == wire::Operator::max;
  }

  std::size_t rotation(std::size_t iteration) const {
    return problem_.count == 0 ? 0 : iteration % problem_.count;
  }

  // Counts elements of `buffer` for which wrong(index into the unrotated sample, element) holds.
  template <typename Wrong>
  std::uint64_t count_if(std::size_t iteration, const void* buffer, Wrong wrong) const {
    const auto* bytes = static_cast<const std::byte*>(buffer);
    std::size_t i = rotation(iteration);
    std::uint64_t found = 0;
    for (std::size_t position = 0; position < problem_.count; ++position) {
      T value;
      std::memcpy(&value, bytes + position * sizeof(T), sizeof(T));
      found += wrong(i, value) ? 1 : 0;
      i = i + 1 == problem_.count ? 0 : i + 1;
    }
    return found;
  }

  // Computes the reference for `n` elements from `first` on.
  void expect(std::size_t first, std::size_t n) {
    reference_.assign(n, Wide{});
    magnitude_.assign(n, Wide{});
    for (std::uint32_t rank = 0; rank < problem_.world_size; ++rank) {
      for (std::size_t i = 0; i < n; ++i) {
        const Wide value = widen(element<T>(problem_, rank, first + i));
        reference_[i] = rank == 0 ? value : reduce::combine(problem_.op, reference_[i], value);
        if constexpr (!is_exact_type<T>) {
          magnitude_[i] += std::abs(value);
        }
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      bound(first + i, reference_[i], magnitude_[i]);
    }
  }

  void bound(std::size_t i, Wide reference, Wide magnitude) {
    low_[i] = static_cast<Bound>(reference);
    if constexpr (!is_exact_type<T>) {
      if (!exact()) {
        const Wide scale = problem_.op == wire::Operator::sum ? magnitude : std::abs(reference);
        const Wide slack = problem_.world_size > 1
                               ? scale * static_cast<Wide>(tolerance<T>(problem_.world_size))
                               : Wide{};
        constexpr Bound infinity = std::numeric_limits<Bound>::infinity();
        // The bounds go outward by one step, for the rounding to Bound, unless nothing is reduced.
        low_[i] = static_cast<Bound>(reference - slack);
        high_[i] = static_cast<Bound>(reference + slack);
        if (problem_.world_size > 1) {
          low_[i] = std::nextafter(low_[i], -infinity);
          high_[i] = std::nextafter(high_[i], infinity);
        }
      }
    }
  }

  Problem problem_;
  std::vector<T> input_;
  std::vector<Bound> low_;       // the least right result; the only one if exact()
  std::vector<Bound> high_;      // the greatest; empty if exact()
  std::vector<Wide> reference_;  // of one chunk
  std::vector<Wide> magnitude_;  // sum of the magnitudes, of one chunk
};

}  // namespace

std::unique_ptr<Sample> Sample::make(const Problem& problem) {
  if (wire::is_handler(problem.op)) {
    return make_handler_sample(problem);
  }
  if (wire::is_opaque(problem.type)) {
    return nullptr;  // only handlers reduce them
  }
  return reduce::with_type(reduce::AllTypes{}, problem.type,
                           [&]<typename T>(T) -> std::unique_ptr<Sample> {
                             return std::make_unique<TypedSample<T>>(problem);
                           });
}

}  // namespace tributary::bench
