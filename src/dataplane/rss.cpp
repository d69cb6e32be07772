// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/rss.h"

#include <bit>

#include "engine/spreading.h"
#include "wire/spread.h"

namespace tributary::dataplane {
namespace {

constexpr std::uint32_t reversed(std::uint32_t value, unsigned bits) {
  std::uint32_t out = 0;
  for (unsigned bit = 0; bit < bits; ++bit) {
    out |= ((value >> bit) & 1u) << (bits - 1 - bit);
  }
  return out;
}

}  // namespace

// A set bit of the input adds the 32 bits of the key from that place on. With this key the hash is
// spread(port) with its bits in reverse order, once in each half.
void fill_rss_key(std::span<std::uint8_t> key) {
  std::uint16_t pattern = 0;
  for (const auto rotation : wire::spread_rotations) {
    pattern = static_cast<std::uint16_t>(pattern | (1u << ((16 - rotation) % 16)));
  }
  for (std::size_t i = 0; i < key.size(); ++i) {
    key[i] = static_cast<std::uint8_t>(i % 2 == 0 ? pattern >> 8 : pattern);
  }
}

std::uint16_t rss_queue(std::uint32_t index, std::uint32_t entries, std::uint16_t queues) {
  const auto bits = static_cast<unsigned>(std::countr_zero(entries));
  // This is the middle of the ports that share the entry.
  const auto middle = (2u * reversed(index, bits) + 1) << (15 - bits);
  return static_cast<std::uint16_t>(
      engine::core_of_spread(static_cast<std::uint16_t>(middle), queues));
}

}  // namespace tributary::dataplane
