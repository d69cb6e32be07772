// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tributary::host {

// Says how a rank stands when a round begins.
struct Standing {
  // The rank has entered so many iterations, and is done with so many: one less while it is in one.
  std::uint64_t entered = 0;
  std::uint64_t finished = 0;
  bool wants = false;    // it waits for another rank's parameters
  bool gives = false;    // it is between two iterations, with every sum so far in its parameters
  bool closed = false;   // it enters no more of them
  bool applied = false;  // it has closed, and every sum so far is in its parameters
  std::vector<bool> offers;  // of each layer, whether it has a gradient for a sum
  // So long it waited for the sums of the round before that its gradients are in; 0: there
  // were none.
  std::uint32_t waited_us = 0;

  bool is_inside() const { return entered > finished; }
  bool operator==(const Standing&) const = default;
};

// The standings of all ranks, as words. Each rank writes its own place only, and a bitwise or over
// all ranks puts the places together: so all know of all.
class StandingWords {
 public:
  StandingWords(std::uint32_t ranks, std::size_t layers)
      : layers_(layers), words_per_rank_(offers_at + (layers + 63) / 64) {
    words_.resize(ranks * words_per_rank_);
  }

  // Writes the standing of one rank, and zeros for all others.
  void write(std::uint32_t rank, const Standing& standing) {
    std::fill(words_.begin(), words_.end(), 0);
    const auto place = std::span(words_).subspan(rank * words_per_rank_, words_per_rank_);
    place[0] = standing.entered;
    place[1] = standing.finished;
    place[2] = (standing.wants ? wants : 0) | (standing.gives ? gives : 0) |
               (standing.closed ? closed : 0) | (standing.applied ? applied : 0) |
               std::uint64_t{standing.waited_us} << waited_at;
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      place[offers_at + layer / 64] |= std::uint64_t{standing.offers[layer]} << (layer % 64);
    }
  }
  // Bits that mean nothing are not looked at.
  Standing read(std::uint32_t rank) const {
    const auto place = std::span(words_).subspan(rank * words_per_rank_, words_per_rank_);
    Standing standing{place[0],
                      place[1],
                      (place[2] & wants) != 0,
                      (place[2] & gives) != 0,
                      (place[2] & closed) != 0,
                      (place[2] & applied) != 0,
                      std::vector<bool>(layers_),
                      static_cast<std::uint32_t>(place[2] >> waited_at)};
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      standing.offers[layer] = (place[offers_at + layer / 64] >> (layer % 64) & 1) != 0;
    }
    return standing;
  }

  std::span<std::uint64_t> words() { return words_; }

 private:
  static constexpr std::uint64_t wants = 1;
  static constexpr std::uint64_t gives = 2;
  static constexpr std::uint64_t closed = 4;
  static constexpr std::uint64_t applied = 8;
  static constexpr unsigned waited_at = 32;  // bits of the same word
  static constexpr std::size_t offers_at = 3;

  std::size_t layers_;
  std::size_t words_per_rank_;
  std::vector<std::uint64_t> words_;
};

}  // namespace tributary::host
