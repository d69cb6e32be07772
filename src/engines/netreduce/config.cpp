// SPDX-License-Identifier: BSD-3-Clause
#include "engines/netreduce/config.h"

#include <algorithm>

namespace tributary::netreduce {
namespace {

// The path MTUs of InfiniBand.
bool is_path_mtu(std::uint16_t mtu) {
  return mtu == 256 || mtu == 512 || mtu == 1024 || mtu == 2048 || mtu == 4096;
}

}  // namespace

std::optional<RingFault> find_fault(const NetReduceConfig& config, std::size_t index) {
  const auto& ring = config.rings[index];
  if (ring.members.size() < 2 || ring.members.size() > members_max) {
    return RingFault{"members", "a ring has 2 to " + std::to_string(members_max) + " `members`",
                     "it has " + std::to_string(ring.members.size())};
  }
  auto sorted = ring.members;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return RingFault{"members", "`members` names an address twice",
                     "ranks that share a machine belong to different rings"};
  }
  if (!is_path_mtu(ring.mtu)) {
    return RingFault{"mtu", "`mtu` is no path MTU of RDMA", "256, 512, 1024, 2048 or 4096"};
  }
  if (ring.slots() > slots_max) {
    return RingFault{"message_packets", "the ring needs too much memory",
                     "2 x window x message_packets x members is " + std::to_string(ring.slots()) +
                         ", at most " + std::to_string(slots_max)};
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
