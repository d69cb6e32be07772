// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/packet.h"

// A PortBitmap holds some of a tree's children: a bit for each, by its place in the configuration.
namespace tributary::engine {

// The lowest bit is visited first.
template <typename Visit>
void for_each_child(std::uint64_t bits, const Visit& visit) {
  for (; bits != 0; bits &= bits - 1) {
    visit(static_cast<std::size_t>(std::countr_zero(bits)));
  }
}

inline std::vector<PortIndex> ports_of(const std::vector<PortIndex>& children, std::uint64_t bits) {
  std::vector<PortIndex> ports;
  for_each_child(bits, [&](std::size_t child) { ports.push_back(children[child]); });
  return ports;
}

}  // namespace tributary::engine
