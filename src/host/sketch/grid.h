// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "host/sketch/chance.h"
#include "host/sketch/chunks.h"
#include "wire/element.h"

namespace tributary::host::sketch {

// Makes integers of floats whose sums over all ranks fit into a few bits, and are exact. The
// elements of a chunk are counted in one unit on all ranks, which follows from the greatest
// magnitude among them, the chunk's bound: it is levels() units.
class Grid {
 public:
  // Returns how many units an element can have on either side of 0: so many that the sum of all
  // ranks has room. It is 0 if there are too many ranks for that, or if the bits are not 16, 8 or
  // 4.
  static constexpr std::int32_t levels_of(unsigned bits, std::uint32_t world_size) {
    const std::uint32_t most = bits == 16 ? 32767 : bits == 8 ? 127 : bits == 4 ? 7 : 0;
    return static_cast<std::int32_t>(most / world_size);
  }

  // Precondition, for all but the shape: levels() is not 0.
  Grid(unsigned bits, std::uint32_t world_size);

  std::int32_t levels() const { return levels_; }
  // Integers go as this type; an element of i4 is two of them.
  wire::ElementType type() const;
  std::size_t bytes_of(std::size_t count) const {
    return bits_ == 16 ? count * 2 : bits_ == 4 ? count / 2 + count % 2 : count;
  }

  // Finds the greatest magnitude of each chunk, as the upper half of a float, rounded up: bounds
  // are ordered as their integers are, so that the greatest of all ranks is a maximum. What is not
  // finite makes the greatest bound. Precondition: there are chunks_of(elements) bounds.
  void find_bounds(std::span<std::int16_t> bounds, std::span<const float> elements) const;
  // Makes integers by the bounds of all ranks, rounded to nearest, of two the even one, or by
  // chance. What is beyond its bound counts as the bound. In chunks that are not finite all
  // integers are 0.
  void quantise(std::byte* integers, std::span<const float> elements,
                std::span<const std::int16_t> bounds, const Chance* chance) const;
  // Writes what integers, or sums of such, stand for: NaN in chunks that are not finite. All ranks
  // have the same bits, for it is one product that is rounded once.
  void restore(std::span<float> elements, const std::byte* integers,
               std::span<const std::int16_t> bounds) const;
  // Takes what integers stand for away from the elements; makes those of chunks that are not finite
  // 0.
  void subtract(std::span<float> elements, const std::byte* integers,
                std::span<const std::int16_t> bounds) const;

 private:
  // Returns the unit of a chunk: 0 if all is zero, NaN if it is not finite.
  float unit_of(std::int16_t bound) const;
  template <typename F>
  void for_restored(std::size_t count, const std::byte* integers,
                    std::span<const std::int16_t> bounds, F f) const;

  unsigned bits_;
  std::int32_t levels_;
};

}  // namespace tributary::host::sketch
