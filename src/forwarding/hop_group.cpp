// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/hop_group.h"

#include <numeric>
#include <random>

namespace tributary::forwarding {

// The order is shuffled by hand (Fisher-Yates): what the standard library's shuffle does with a
// generator differs between implementations, and all switches of a fabric must agree.
std::vector<std::uint16_t> draw_order(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint16_t> order(count);
  std::iota(order.begin(), order.end(), std::uint16_t{0});
  if (count < 2) {  // as in most groups: the generator takes longer than all else of a route
    return order;
  }
  std::mt19937_64 random(seed);
  for (std::size_t left = count; left > 1; --left) {
    std::swap(order[left - 1], order[random() % left]);
  }
  return order;
}

}  // namespace tributary::forwarding
