// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tributary::traffic {

// A SequenceWindow knows which of the last numbers of a sequence have come, and so finds out what
// comes a second time.
class SequenceWindow {
 public:
  // A frame that comes so many behind the newest one is as good as lost.
  static constexpr std::uint32_t size = 1u << 20;

  // Returns whether `number` comes for the first time.
  bool take(std::uint32_t number) {
    const auto ahead = static_cast<std::int32_t>(number - next_);
    if (ahead < 0) {
      return number - next_ >= 0u - size && set(number);
    }
    const auto gap = static_cast<std::uint32_t>(ahead);
    if (gap >= size) {
      forget_all();
    } else {
      for (; next_ != number; ++next_) {
        words_[word_of(next_)] &= ~bit_of(next_);
      }
    }
    next_ = number + 1;
    words_[word_of(number)] |= bit_of(number);
    return true;
  }

  // Returns the number behind the highest one that came.
  std::uint32_t next() const { return next_; }

  // Begins the sequence anew. What the window has noted for numbers ahead is forgotten when they
  // are passed.
  void reset() { next_ = 0; }

 private:
  static std::size_t word_of(std::uint32_t number) { return number % size / 64; }
  static std::uint64_t bit_of(std::uint32_t number) { return std::uint64_t{1} << (number % 64); }

  bool set(std::uint32_t number) {
    auto& word = words_[word_of(number)];
    const bool first = (word & bit_of(number)) == 0;
    word |= bit_of(number);
    return first;
  }
  void forget_all() { words_.assign(words_.size(), 0); }

  std::uint32_t next_ = 0;
  std::vector<std::uint64_t> words_ = std::vector<std::uint64_t>(size / 64);
};

}  // namespace tributary::traffic
