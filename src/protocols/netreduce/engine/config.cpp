// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/config.h"

#include <algorithm>
#include <bit>

#include "protocols/netreduce/engine/paths.h"

namespace tributary::netreduce {
namespace {

bool has_twice(std::vector<wire::IpAddress> addresses) {
  std::sort(addresses.begin(), addresses.end());
  return std::adjacent_find(addresses.begin(), addresses.end()) != addresses.end();
}

// Returns all members that are named as lying below the switch.
std::vector<wire::IpAddress> below(const RingConfig& ring) {
  auto members = ring.local;
  for (const auto& rack : ring.racks) {
    members.insert(members.end(), rack.begin(), rack.end());
  }
  return members;
}

std::optional<RingFault> find_size_fault(const RingConfig& ring) {
  constexpr auto& mtus = wire::ring_mtus;
  if (std::find(mtus.begin(), mtus.end(), ring.mtu) == mtus.end()) {
    return RingFault{"mtu", "`mtu` is no path MTU of RDMA", "256, 512, 1024, 2048 or 4096"};
  }
  if (ring.slots() > slots_max) {
    return RingFault{"message_packets", "the ring needs too much memory",
                     "2 x window x message_packets x members is " + std::to_string(ring.slots()) +
                         ", at most " + std::to_string(slots_max)};
  }
  return std::nullopt;
}

std::optional<RingFault> find_member_fault(const RingConfig& ring) {
  const auto world = ring.members.size();
  if (world < 2 || world > members_max) {
    return RingFault{"members", "a ring has 2 to " + std::to_string(members_max) + " `members`",
                     "it has " + std::to_string(world)};
  }
  if (has_twice(ring.members)) {
    return RingFault{"members", "`members` names an address twice",
                     "ranks that share a machine belong to different rings"};
  }
  const bool is_v4 = ring.members.front().is_v4();
  if (std::any_of(ring.members.begin(), ring.members.end(),
                  [=](const auto& member) { return member.is_v4() != is_v4; })) {
    return RingFault{"members", "`members` has addresses of IPv4 and of IPv6",
                     "connections between the two do not exist"};
  }
  return std::nullopt;
}

std::optional<RingFault> find_rack_fault(const RingConfig& ring) {
  const auto named = below(ring);
  const auto setting = ring.racks.empty() ? "local" : "rack";
  for (const auto& address : named) {
    if (std::find(ring.members.begin(), ring.members.end(), address) == ring.members.end()) {
      return RingFault{setting, "`local` or a `rack` has an address that is not in `members`",
                       "`members` are those of the whole ring, on all its switches"};
    }
  }
  if (has_twice(named)) {
    return RingFault{setting, "`local` and `rack` name a member twice",
                     "each lies below one switch"};
  }
  const auto is_part = [&ring](const auto& rack) {
    return !rack.empty() && rack.size() < ring.members.size();
  };
  if (!std::all_of(ring.racks.begin(), ring.racks.end(), is_part)) {
    return RingFault{"rack", "a `rack` has all members, or none",
                     "no packet of the ring would leave it"};
  }
  const bool is_whole = named.empty() || named.size() == ring.members.size();
  if (ring.parent && is_whole) {
    return RingFault{"parent", "no packet of the ring goes to the `parent`",
                     "name the members below this switch as `local`, or in a `rack`, or leave "
                     "`parent` out"};
  }
  if (ring.parent && ring.parent->is_v4() != ring.members.front().is_v4()) {
    return RingFault{"parent", "`parent` is an address of another version of IP than `members`",
                     "packets of the ring take the way to it"};
  }
  if (!ring.parent && !is_whole) {
    return RingFault{setting, "nobody adds up what the other members send",
                     "name the switch above as `parent`, or all members as `local` or in a `rack`"};
  }
  return std::nullopt;
}

}  // namespace

std::size_t RingConfig::slots() const {
  return aggregators() * static_cast<std::size_t>(std::popcount(Paths(*this).gathered()));
}

std::optional<RingFault> find_fault(const NetReduceConfig& config, std::size_t index) {
  const auto& ring = config.rings[index];
  for (const auto find : {find_member_fault, find_rack_fault, find_size_fault}) {
    if (auto fault = find(ring)) {
      return fault;
    }
  }
  const auto before = config.rings.begin() + static_cast<std::ptrdiff_t>(index);
  if (std::any_of(config.rings.begin(), before,
                  [&](const RingConfig& other) { return other.id == ring.id; })) {
    return RingFault{"id", "ring " + std::to_string(ring.id) + " was given before",
                     "rings have different numbers"};
  }
  return std::nullopt;
}

}  // namespace tributary::netreduce
