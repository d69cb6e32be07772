// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

namespace tributary::bench {

// A Pattern decides whom a host of the congestion pattern (section 5.2 of the Canary paper) sends
// to. All hosts have the same list of peers and the same seed.
enum class Pattern : std::uint8_t {
  uniform,     // every host draws by itself: some get from several, some from none
  permutation  // all hosts draw one cycle through all of them: each gets from exactly one
};

class Peers {
 public:
  // `count` is at least 2, `self` is this host's place in the list.
  Peers(Pattern pattern, std::size_t count, std::size_t self, std::uint64_t seed)
      : pattern_(pattern), count_(count), self_(self), seed_(seed) {}

  // Returns the peer of the `turn`th message or period, which is never this host itself.
  std::size_t at(std::uint64_t turn) const;

 private:
  Pattern pattern_;
  std::size_t count_;
  std::size_t self_;
  std::uint64_t seed_;
};

}  // namespace tributary::bench
