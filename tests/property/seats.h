// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "property/shape.h"

namespace tributary::test {

// Draws the hosts of a job whose engine knows ranks by their ports or addresses, so that every rank
// has a host of its own. There are fewer ranks than the shape says where there are too few hosts.
std::vector<std::size_t> separate_hosts(const Shape& shape, std::uint32_t job, std::size_t hosts);

// The UDP port of a rank whose engine needs no host of its own for it; 0 directly over Ethernet.
std::uint16_t canary_port(const Shape& shape, std::uint32_t job, std::uint32_t rank);

// Draws the root of a tree: mostly a switch of the highest level, as a controller would choose.
std::size_t draw_root(const Shape& shape, std::size_t switches, Random& random);

// The id by which switches know a job, of any engine.
constexpr std::uint32_t job_id(std::uint32_t job) {
  return 1 + job * 0x10001;
}

}  // namespace tributary::test
