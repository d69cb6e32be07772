// SPDX-License-Identifier: BSD-3-Clause
#include "background_peers.h"

#include <numeric>
#include <utility>
#include <vector>

#include "wire/key.h"

namespace tributary::bench {
namespace {

// This is SplitMix64, so that hosts with different standard libraries draw the same.
class Random {
 public:
  Random(std::uint64_t seed, std::uint64_t stream) : state_(seed) {
    state_ = next() ^ stream;
    state_ = next();
  }
  std::uint64_t next() { return wire::mix_key(state_ += 0x9e3779b97f4a7c15u, 0); }
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(next() % bound); }

 private:
  std::uint64_t state_;
};

// Sattolo's algorithm makes a permutation that is one cycle, so that nobody sends to itself.
std::vector<std::size_t> cycle(std::size_t count, Random& random) {
  std::vector<std::size_t> next(count);
  std::iota(next.begin(), next.end(), std::size_t{0});
  for (std::size_t i = count - 1; i > 0; --i) {
    std::swap(next[i], next[random.below(i)]);
  }
  return next;
}

}  // namespace

std::size_t Peers::at(std::uint64_t turn) const {
  if (pattern_ == Pattern::permutation) {
    Random random(seed_, turn);
    return cycle(count_, random)[self_];
  }
  Random random(seed_ ^ (0xd1342543de82ef95u * (self_ + 1)), turn);  // each host has a stream
  const std::size_t drawn = random.below(count_ - 1);
  return drawn >= self_ ? drawn + 1 : drawn;
}

}  // namespace tributary::bench
