// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/engine/paths.h"

#include <algorithm>
#include <optional>

namespace tributary::netreduce {
namespace {

// Returns the part below the switch that a member belongs to: local members are parts by
// themselves. No value: the member lies elsewhere.
using Part = std::optional<std::size_t>;

Part part_of(const RingConfig& ring, std::size_t rank) {
  const auto& member = ring.members[rank];
  const auto is_in = [&member](const std::vector<wire::IpAddress>& some) {
    return std::find(some.begin(), some.end(), member) != some.end();
  };
  const auto rack = std::find_if(ring.racks.begin(), ring.racks.end(), is_in);
  if (rack != ring.racks.end()) {
    return ring.members.size() + static_cast<std::size_t>(rack - ring.racks.begin());
  }
  const bool is_local = (ring.local.empty() && ring.racks.empty()) || is_in(ring.local);
  return is_local ? Part(rank) : std::nullopt;
}

Path path_between(const Part& from, const Part& to) {
  if (from == to) {  // both elsewhere, or in one rack
    return Path::elsewhere;
  }
  return !from ? Path::downwards : !to ? Path::upwards : Path::inside;
}

}  // namespace

Paths::Paths(const RingConfig& ring) : paths_(ring.members.size()) {
  const auto world = ring.members.size();
  std::vector<Part> added;
  for (std::size_t rank = 0; rank < world; ++rank) {
    const auto from = part_of(ring, rank);
    const auto bit = std::uint64_t{1} << rank;
    below_ |= from ? bit : 0;
    paths_[rank] = path_between(from, part_of(ring, (rank + 1) % world));
    if (paths_[rank] != Path::inside && paths_[rank] != Path::upwards) {
      continue;
    }
    gathered_ |= bit;
    upwards_ |= paths_[rank] == Path::upwards ? bit : 0;
    if (std::find(added.begin(), added.end(), from) == added.end()) {
      added.push_back(from);
      added_ |= bit;
    }
  }
}

}  // namespace tributary::netreduce
