// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/bypass_table.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "wire/key.h"

namespace tributary::canary {

BypassTable::BypassTable(std::size_t count, std::uint64_t seed)
    : mask_(count / ways - 1), seed_(seed), entries_(count) {
  assert(std::has_single_bit(count) && count >= ways);
}

void BypassTable::note(const Bypassed& bypassed) {
  auto* const set = set_of(bypassed);
  auto* const known = std::find(set, set + ways, bypassed);
  auto* const room = std::find_if(
      set, set + ways - 1, [](const Bypassed& entry) { return entry.child.is_unspecified(); });
  auto* const last = known != set + ways ? known : room;
  std::move_backward(set, last, last + 1);
  *set = bypassed;
}

bool BypassTable::take(const Bypassed& bypassed) {
  auto* const set = set_of(bypassed);
  auto* const known = std::find(set, set + ways, bypassed);
  if (known == set + ways) {
    return false;
  }
  *known = Bypassed{};
  return true;
}

Bypassed* BypassTable::set_of(const Bypassed& bypassed) {
  // They are mixed one after the other: both are consecutive numbers, whose XOR repeats itself.
  const auto hash = wire::mix_key(wire::mix_key(bypassed.key, seed_), bypassed.child.value());
  return entries_.at((hash & mask_) * ways);
}

}  // namespace tributary::canary
