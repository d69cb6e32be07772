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
    bounds_.low.resize(problem.count);
    if (!exact()) {
      bounds_.high.resize(problem.count);
    }
    for (std::size_t i = 0; i < problem.count; ++i) {
      input_[i] = element<T>(problem, problem.rank, i);
    }
    expect(0, problem.count, {}, bounds_);
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

  std::uint64_t wrong_results(std::size_t iteration, const void* result,
                              const std::vector<PartialResult>& partial) const override {
    if (partial.empty()) {
      return count_outside(bounds_, iteration, result);
    }
    auto bounds = bounds_;
    for (const auto& [position, count, missing] : partial) {
      const auto first = (position + rotation(iteration)) % problem_.count;
      const auto head = std::min(count, problem_.count - first);
      expect(first, head, missing, bounds);
      expect(0, count - head, missing, bounds);
    }
    return count_outside(bounds, iteration, result);
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

  // What results have to be, by index into the unrotated sample.
  struct Bounds {
    std::vector<Bound> low;   // the least right result; the only one if exact()
    std::vector<Bound> high;  // the greatest; empty if exact()
  };

  std::uint64_t count_outside(const Bounds& bounds, std::size_t iteration,
                              const void* result) const {
    return count_if(iteration, result, [&](std::size_t i, T got) {
      if constexpr (is_exact_type<T>) {
        return got != bounds.low[i];
      } else {
        const auto value = static_cast<Bound>(got);
        const Bound high = exact() ? bounds.low[i] : bounds.high[i];
        return !(bounds.low[i] <= value && value <= high);  // a NaN is wrong, too
      }
    });
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

  // Computes what `n` elements from `first` on have to be without the ranks that are missing.
  void expect(std::size_t first, std::size_t n, const std::vector<std::uint32_t>& missing,
              Bounds& bounds) const {
    constexpr std::size_t chunk = 1024;  // the reference of one chunk stays in the cache
    for (std::size_t i = 0; i < n; i += chunk) {
      expect_chunk(first + i, std::min(chunk, n - i), missing, bounds);
    }
  }

  void expect_chunk(std::size_t first, std::size_t n, const std::vector<std::uint32_t>& missing,
                    Bounds& bounds) const {
    std::vector<Wide> reference(n, Wide{});
    std::vector<Wide> magnitude(n, Wide{});
    bool begun = false;
    for (std::uint32_t rank = 0; rank < problem_.world_size; ++rank) {
      if (std::count(missing.begin(), missing.end(), rank) != 0) {
        continue;
      }
      for (std::size_t i = 0; i < n; ++i) {
        const Wide value = widen(element<T>(problem_, rank, first + i));
        reference[i] = begun ? reduce::combine(problem_.op, reference[i], value) : value;
        if constexpr (!is_exact_type<T>) {
          magnitude[i] += std::abs(value);
        }
      }
      begun = true;
    }
    for (std::size_t i = 0; i < n; ++i) {
      bound(first + i, reference[i], magnitude[i], bounds);
    }
  }

  void bound(std::size_t i, Wide reference, Wide magnitude, Bounds& bounds) const {
    bounds.low[i] = static_cast<Bound>(reference);
    if constexpr (!is_exact_type<T>) {
      if (!exact()) {
        const Wide scale = problem_.op == wire::Operator::sum ? magnitude : std::abs(reference);
        const Wide slack = problem_.world_size > 1
                               ? scale * static_cast<Wide>(tolerance<T>(problem_.world_size))
                               : Wide{};
        constexpr Bound infinity = std::numeric_limits<Bound>::infinity();
        // The bounds go outward by one step, for the rounding to Bound, unless nothing is reduced.
        bounds.low[i] = static_cast<Bound>(reference - slack);
        bounds.high[i] = static_cast<Bound>(reference + slack);
        if (problem_.world_size > 1) {
          bounds.low[i] = std::nextafter(bounds.low[i], -infinity);
          bounds.high[i] = std::nextafter(bounds.high[i], infinity);
        }
      }
    }
  }

  Problem problem_;
  std::vector<T> input_;
  Bounds bounds_;  // of results that have every rank in them
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
