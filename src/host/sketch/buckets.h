// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tributary::host::sketch {

// Finds in which bucket an element is. The upper half of the element says at which edge bisection
// begins; edges of gradients mostly differ in these halves, so that one step is left. Elements are
// looked up one by one: a CPU may take longer to gather them than for as many loads.
class Buckets {
 public:
  static constexpr std::size_t most = 256;

  // Bucket i begins at edge i. Precondition: there is an edge or more, `most` at the most, and they
  // do not decrease.
  explicit Buckets(std::span<const float> edges);

  // Writes the last buckets that do not begin above the elements; the first one has all below the
  // second. What is no number is in any.
  void find(std::uint8_t* buckets, const float* elements, std::size_t n) const;

 private:
  void fill(std::span<const float> edges);
  template <std::size_t steps>
  std::size_t bisected(float element, std::size_t edge) const;
  template <std::size_t steps>
  void find_by(std::uint8_t* buckets, const float* elements, std::size_t n) const;

  std::array<std::uint8_t, std::size_t{1} << 16> begins_;  // by the upper half of a float
  // The edges that differ, from the second on; behind them NaN, which no element reaches, since
  // bisection looks beyond the last.
  std::array<float, 2 * most> edges_;
  std::array<std::uint8_t, most> buckets_;  // the last one that begins with the edge
  bool some_are_alike_ = false;
  std::size_t steps_ = 0;  // lead from where bisection begins to any edge
};

}  // namespace tributary::host::sketch
