// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/policy.h"

#include "forwarding/ecmp.h"
#include "forwarding/route_table6.h"
#include "wire/key.h"

namespace tributary::forwarding {
namespace {

// The multiplier moves the low bits of a hash, which pick() does not look at, to the top.
constexpr std::uint32_t second_choice = 0x9e3779b1;

// After so many roots that do not keep a block it goes to the next one all the same.
constexpr std::uint64_t draws_max = 4;

template <typename Group>
std::size_t nth_live(const Group& group, std::size_t n) {
  std::size_t hop = 0;
  while (!group.up[hop] || n-- > 0) {
    ++hop;
  }
  return hop;
}

template <typename Group>
std::size_t hop_of(const Group& group, std::uint32_t hash) {
  const auto hop = pick(hash, group.up.size());
  return group.up[hop] ? hop : nth_live(group, pick(hash * second_choice, group.live.size()));
}

}  // namespace

std::size_t default_hop(const NextHopGroup& group, std::uint32_t hash) {
  return hop_of(group, hash);
}

std::size_t default_hop(const NextHopGroup6& group, std::uint32_t hash) {
  return hop_of(group, hash);
}

std::size_t default_root(const NextHopGroup& group, std::uint32_t hash) {
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

Filling filling_of(const Choosing& choosing, std::size_t hop) {
  auto filling = choosing.queues.filling(choosing.group.route.next_hops[hop].interface);
  filling.crowded_behind = choosing.flow.reduction && choosing.group.crowded[hop];
  return filling;
}

std::size_t least_filled(const Choosing& choosing, std::size_t preferred) {
  const auto& group = choosing.group;
  const auto hops = group.route.next_hops.size();
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
