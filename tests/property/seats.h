// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "property/shape.h"

namespace tributary::test {

// Where the ranks of a job are whose engine knows them by their ports or addresses: every one on a
// host of its own. Fewer ranks than the shape says where there are not so many hosts.
std::vector<std::size_t> separate_hosts(const Shape& shape, std::uint32_t job, std::size_t hosts);

// The root of a tree: mostly one of the switches of the highest level, as a controller would choose
// it.
std::size_t draw_root(const Shape& shape, std::size_t switches, Random& random);

// Ids of jobs, of any engine, for switches.
constexpr std::uint32_t job_id(std::uint32_t job) {
  return 1 + job * 0x10001;
}

}  // namespace tributary::test
