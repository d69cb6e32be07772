// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/element.h"

namespace tributary::host::exact {

// So many elements share an exponent.
inline constexpr std::size_t chunk_elements = 256;
constexpr std::size_t chunks_of(std::size_t count) {
  return (count + chunk_elements - 1) / chunk_elements;
}

// The most ranks whose sums have room: with more, the integers of small floats would keep fewer
// than 16 bits of an element.
inline constexpr std::uint32_t world_size_max = 1u << 14;

// Makes integers of floats, whose sums over all ranks are exact and therefore the same in any
// order. Where all elements of a chunk, on all ranks, are below 2^E, one of them becomes the
// integer nearest to x * 2^(bits() - E), of two the even one. Elements may be unaligned; vectors
// begin with a chunk, and the last chunk may be shorter.
class Quantiser {
 public:
  // Preconditions: the type is a float, and the world has 1 to world_size_max ranks.
  Quantiser(wire::ElementType type, std::uint32_t world_size);

  // The integers are i64 for f32 and f64, and i32 for smaller types.
  wire::ElementType integers() const;
  // Returns the bits of an integer's magnitude, such that a sum over the world stays below the
  // greatest integer.
  int bits() const { return bits_; }

  // Finds E of each chunk, as far as this rank's finite elements need it, and no less than the
  // exponent with which the integer 1 means the least number above 0. Returns whether all are
  // finite. Precondition: there are chunks_of(count) exponents.
  bool find_exponents(std::span<std::int32_t> exponents, const std::byte* elements,
                      std::size_t count) const;
  // Precondition: the exponents are the greatest of all ranks. What is not finite becomes 0.
  void quantise(std::byte* integers, const std::byte* elements, std::size_t count,
                std::span<const std::int32_t> exponents) const;
  // Makes elements of sums of integers, rounded once to nearest, of two the even one. What is too
  // great becomes infinity, or the greatest number of a type of 8 bits; what is 0 becomes +0.
  void restore(std::byte* elements, const std::byte* integers, std::size_t count,
               std::span<const std::int32_t> exponents) const;

 private:
  wire::ElementType type_;
  int bits_;
};

}  // namespace tributary::host::exact
