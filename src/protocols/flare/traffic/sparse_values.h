// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/traffic/sparse_plan.h"
#include "wire/cursor.h"
#include "wire/element.h"

namespace tributary::flare {

// Holds what the ranks of a job contribute to sparse blocks, and what must come out. A block is one
// of a few that lie ready, with one element of each rank in every so many. They are whole numbers,
// so small that every type holds every partial sum exactly, and never zero.
//
// A sum comes in shards, in any order, and as pairs of which several may be for one element. So it
// is compared by what its values add up to, each times a weight of its place, which was computed
// beforehand, in 64 bits and with none of the code under test. One wrong value is always seen, as
// weights are odd.
class SparseValues {
 public:
  static constexpr std::uint32_t variants = 7;

  // Precondition: the span is within what the shape allows.
  SparseValues(wire::ElementType type, std::uint32_t ranks, const SparsePlan& plan);

  struct Shard {
    wire::FlareForm form = wire::FlareForm::pairs;
    std::uint16_t elements = 0;
    std::uint16_t first = 0;
    std::uint32_t payload_crc = 0;
    std::vector<std::byte> payload;
  };
  using Shards = std::vector<Shard>;

  wire::ElementType type() const { return type_; }
  std::uint16_t span() const { return static_cast<std::uint16_t>(span_); }
  const wire::FlareSparseShape& shape() const { return shape_; }
  // Returns the shards of every contribution.
  std::uint32_t shards() const { return static_cast<std::uint32_t>(contributions_[0].size()); }
  const Shards& contribution(std::uint32_t rank, std::uint32_t variant) const {
    return contributions_[rank * variants + variant];
  }
  // Returns the shards of the result, as a root sends it.
  const Shards& result(std::uint32_t variant) const { return results_[variant]; }
  std::uint64_t weighed_sum(std::uint32_t variant) const { return sums_[variant]; }

  // Returns what the values of a shard are together, each times its weight, modulo 2^64; no value
  // if some are not whole, or offsets do not increase, if they are to.
  std::optional<std::uint64_t> weigh(const wire::FlareSparseHeader& header, wire::Bytes payload,
                                     bool in_order) const;

 private:
  using Numbers = std::vector<std::int64_t>;  // by place; zero where there is nothing

  Numbers numbers(const SparsePlan& plan, std::uint32_t rank, std::uint32_t variant) const;
  std::uint64_t weighed(const Numbers& numbers) const;
  Shards cut(const Numbers& numbers, std::size_t pairs_per_shard) const;
  Shards cut_pairs(const Numbers& numbers, std::size_t per_shard) const;
  Shards cut_runs(const Numbers& numbers) const;

  wire::ElementType type_;
  std::size_t span_;
  wire::FlareSparseShape shape_;
  std::vector<std::uint64_t> weights_;  // by place
  std::vector<Shards> contributions_;   // by rank and variant
  std::vector<Shards> results_;         // by variant
  std::vector<std::uint64_t> sums_;     // by variant
};

}  // namespace tributary::flare
