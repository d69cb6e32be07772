// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace tributary::host {

// Rows of bits in 64-bit words, each row in words of its own, as ranks reduce them bit by bit.
class BitRows {
 public:
  BitRows() = default;
  // `bits` are the lengths of the rows.
  BitRows(std::initializer_list<std::size_t> bits, bool value) {
    std::size_t words = 0;
    for (const auto row : bits) {
      begins_.push_back(words);
      words += (row + 63) / 64;
    }
    words_.assign(words, value ? ~std::uint64_t{0} : 0);
  }

  bool test(std::size_t row, std::size_t bit) const {
    return (words_[begins_[row] + bit / 64] >> (bit % 64) & 1) != 0;
  }
  void set(std::size_t row, std::size_t bit) { word(row, bit) |= std::uint64_t{1} << (bit % 64); }
  void clear(std::size_t row, std::size_t bit) {
    word(row, bit) &= ~(std::uint64_t{1} << (bit % 64));
  }
  std::span<std::uint64_t> words() { return words_; }

 private:
  std::uint64_t& word(std::size_t row, std::size_t bit) { return words_[begins_[row] + bit / 64]; }

  std::vector<std::size_t> begins_;
  std::vector<std::uint64_t> words_;
};

}  // namespace tributary::host
