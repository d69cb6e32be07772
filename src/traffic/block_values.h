// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::traffic {

// A Reduction is what is done to the elements of a job.
struct Reduction {
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
};

// BlockValues are what the ranks of a job contribute, and what must come out. Each rank has one row
// of pseudo-random whole numbers (or pairs of these), a little longer than a block, and a block is
// a window of it that begins at its `shift`. So the sum of any block lies ready as a window of the
// row of sums. That row is computed here, in 64 bits and with none of the code under test, and the
// numbers are so small that every type holds every partial sum exactly: any other bit is an error.
class BlockValues {
 public:
  static constexpr std::uint32_t shifts = 61;  // a prime: no power of two hides a swapped block

  BlockValues(wire::ElementType type, wire::Operator op, std::uint32_t ranks, std::size_t elements);

  std::size_t block_bytes() const { return block_bytes_; }
  wire::Bytes part(std::uint32_t rank, std::uint32_t shift) const { return window(rank, shift); }
  wire::Bytes sum(std::uint32_t shift) const { return window(ranks_, shift); }

  // These are CRC-32s over those windows alone.
  std::uint32_t part_crc(std::uint32_t rank, std::uint32_t shift) const {
    return crcs_[rank * shifts + shift];
  }
  std::uint32_t sum_crc(std::uint32_t shift) const { return crcs_[ranks_ * shifts + shift]; }

  // Returns the number that `rank` contributes at place `i` of its row. For an i4 it is the byte;
  // for a pair, the value times 2^32 and the index.
  static std::int64_t value(wire::ElementType type, wire::Operator op, std::uint32_t ranks,
                            std::uint32_t rank, std::size_t i);

 private:
  wire::Bytes window(std::uint32_t row, std::uint32_t shift) const {
    return wire::Bytes(rows_).subspan(row * row_bytes_ + shift * element_bytes_, block_bytes_);
  }

  std::uint32_t ranks_;
  std::size_t element_bytes_;
  std::size_t block_bytes_;
  std::size_t row_bytes_;
  std::vector<std::byte> rows_;      // of each rank, and the sums
  std::vector<std::uint32_t> crcs_;  // by row and shift
};

}  // namespace tributary::traffic
