// SPDX-License-Identifier: BSD-3-Clause
#include "property/seats.h"

#include <algorithm>
#include <numeric>

namespace tributary::test {

std::vector<std::size_t> separate_hosts(const Shape& shape, std::uint32_t job, std::size_t hosts) {
  auto random = stream_of(shape.seed, Stream::trees, job);
  std::vector<std::size_t> seats(hosts);
  std::iota(seats.begin(), seats.end(), std::size_t{0});
  std::shuffle(seats.begin(), seats.end(), random);
  seats.resize(std::min<std::size_t>(hosts, shape.world));
  return seats;
}

// Ranks that may share a host have ports of their own; there are 256.
std::uint16_t canary_port(const Shape& shape, std::uint32_t job, std::uint32_t rank) {
  if (shape.ethernet != 0) {
    return 0;
  }
  const auto own = shape.world <= 16 ? job * 16 + rank : job;
  return static_cast<std::uint16_t>(wire::canary_udp_port_first + own);
}

std::size_t draw_root(const Shape& shape, std::size_t switches, Random& random) {
  const auto at_top = shape.levels == 1   ? 1
                      : shape.levels == 2 ? shape.spines
                                          : shape.spines * shape.roots;
  const bool anywhere = random() % 4 == 0;
  const auto draw = random();
  return anywhere ? draw % switches : switches - 1 - draw % at_top;
}

}  // namespace tributary::test
