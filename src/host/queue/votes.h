// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/queue/bit_rows.h"

namespace tributary::host {

// Every rank says this at the beginning of a cycle, of itself and of the numbers of names. A
// bitwise and over all ranks tells what all of them say; so what a single one states for all to
// hear is a bit that it clears.
class Votes {
 public:
  // A rank states these of itself.
  enum class Fact : std::uint8_t {
    has_news,  // it has posted names without a number
    closed,    // it posts no more
    busy,      // it has posted what is not over
  };

  Votes() = default;
  Votes(std::size_t ranks, std::size_t numbers)
      : bits_({ranks, ranks, ranks, numbers, numbers}, true) {
    for (std::size_t number = 0; number < numbers; ++number) {
      bits_.clear(ready_row, number);
    }
  }

  void state(Fact fact, std::uint32_t rank) { bits_.clear(row_of(fact), rank); }
  bool is_stated(Fact fact, std::uint32_t rank) const { return !bits_.test(row_of(fact), rank); }

  // A number is ready when every rank has posted its name.
  void set_ready(std::size_t number) { bits_.set(ready_row, number); }
  bool is_ready(std::size_t number) const { return bits_.test(ready_row, number); }
  // A number is asked for when some rank wants to know who has not posted its name.
  void ask(std::size_t number) { bits_.clear(asked_row, number); }
  bool is_asked(std::size_t number) const { return !bits_.test(asked_row, number); }

  std::span<std::uint64_t> words() { return bits_.words(); }

 private:
  static constexpr std::size_t ready_row = 3;
  static constexpr std::size_t asked_row = 4;
  static std::size_t row_of(Fact fact) { return static_cast<std::size_t>(fact); }

  BitRows bits_;
};

// Every rank answers this about the numbers that were asked for, in their order. A bitwise or over
// all ranks puts the answers together.
class Census {
 public:
  enum class Finding : std::uint8_t {
    lacks,     // it has not posted that
    differs,   // it has, and in another shape
    overdue,   // it has waited for the others long enough for a warning
    gives_up,  // it waits no longer
  };

  Census() = default;
  Census(std::size_t ranks, std::size_t numbers)
      : ranks_(ranks),
        bits_({ranks * numbers, ranks * numbers, ranks * numbers, ranks * numbers}, false) {}

  void state(Finding finding, std::size_t index, std::uint32_t rank) {
    bits_.set(static_cast<std::size_t>(finding), index * ranks_ + rank);
  }
  std::vector<std::uint32_t> ranks(Finding finding, std::size_t index) const {
    std::vector<std::uint32_t> found;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (bits_.test(static_cast<std::size_t>(finding), index * ranks_ + rank)) {
        found.push_back(rank);
      }
    }
    return found;
  }

  std::span<std::uint64_t> words() { return bits_.words(); }

 private:
  std::size_t ranks_ = 0;
  BitRows bits_;
};

}  // namespace tributary::host
