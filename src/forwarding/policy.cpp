// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/policy.h"

#include <algorithm>

#include "forwarding/ecmp.h"
#include "wire/key.h"

namespace tributary::forwarding {
namespace {

// The multiplier moves the low bits of a hash, which pick() does not look at, to the top.
constexpr std::uint32_t second_choice = 0x9e3779b1;

// After so many roots that do not keep a block it goes to the next one all the same.
constexpr std::uint64_t draws_max = 8;

std::size_t nth_live(const HopGroup& group, std::size_t n) {
  std::size_t hop = 0;
  while (!group.up[hop] || n-- > 0) {
    ++hop;
  }
  return hop;
}

}  // namespace

std::size_t default_hop(const HopGroup& group, std::uint32_t hash) {
  const auto hop = pick(hash, group.up.size());
  if (group.up[hop]) {
    return hop;
  }
  const auto live = std::count(group.up.begin(), group.up.end(), true);
  return nth_live(group, pick(hash * second_choice, static_cast<std::size_t>(live)));
}

std::size_t default_root(const HopGroup& group, std::uint32_t hash) {
  auto root = default_hop(group, hash);
  for (std::uint64_t draw = 1; draw <= draws_max && group.shares.reduced(); ++draw) {
    const auto drawn = wire::mix_key(hash | (draw << 32), 0);
    if (group.shares.keeps(root, static_cast<std::uint32_t>(drawn))) {
      return root;
    }
    root = default_hop(group, static_cast<std::uint32_t>(drawn >> 32));
  }
  return root;
}

std::size_t root_behind(const HopGroup& group, std::uint32_t hash, PortIndex port) {
  const auto usual = default_root(group, hash);
  if (group.interfaces[usual] == port) {
    return usual;
  }
  const auto hops = group.up.size();
  for (std::size_t hop = 0; hop < hops; ++hop) {
    if (group.up[hop] && group.interfaces[hop] == port) {
      return hop;
    }
  }
  return usual;
}

Filling filling_of(const Choosing& choosing, std::size_t hop) {
  auto filling =
      choosing.queues.filling(choosing.group.interfaces[hop], choosing.flow.traffic_class);
  filling.crowded_behind = choosing.flow.reduction && choosing.group.crowded[hop];
  return filling;
}

std::size_t least_filled(const Choosing& choosing, std::size_t preferred) {
  const auto& group = choosing.group;
  const auto hops = group.up.size();
  auto best = preferred;
  auto emptiest = filling_of(choosing, preferred);
  for (std::size_t step = 1; step < hops; ++step) {
    const auto hop = (preferred + step) % hops;
    if (!group.up[hop]) {
      continue;
    }
    if (const auto filling = filling_of(choosing, hop); filling.emptier_than(emptiest)) {
      best = hop;
      emptiest = filling;
    }
  }
  return best;
}

}  // namespace tributary::forwarding
