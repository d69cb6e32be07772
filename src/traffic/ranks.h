// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traffic/stations.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/key.h"

namespace tributary::traffic {

// Ranks are the virtual workers: rank r is behind port r modulo the number of ports, and is the
// next station there.
class Ranks {
 public:
  static constexpr std::uint32_t ranks_max = 64;

  struct Rank {
    std::size_t port = 0;
    wire::MacAddress mac;
    wire::Ipv4Address address;
  };

  // The stations outlive this.
  Ranks(const Stations& stations, std::uint32_t workers);

  std::uint32_t count() const { return static_cast<std::uint32_t>(ranks_.size()); }
  const Rank& operator[](std::uint32_t rank) const { return ranks_[rank]; }
  // Returns the rank behind `port` with this address; count() if there is none.
  std::uint32_t find(std::size_t port, wire::Ipv4Address address) const;

 private:
  const Stations& stations_;
  std::vector<Rank> ranks_;
};

// Returns the tag that a rank adds to the fingerprint of a block. Nobody but this process compares
// tags, so that they need not be those of a protocol's own hosts; but as with those, what is
// pseudo-random are the sums of the tags of the first ranks.
inline std::uint64_t total_tag(std::uint64_t key, std::uint32_t ranks) {
  return ranks == 0 ? 0 : wire::mix_key(key, 0x7061727469616cULL * ranks);
}
inline std::uint64_t rank_tag(std::uint64_t key, std::uint32_t rank) {
  return total_tag(key, rank + 1) - total_tag(key, rank);
}

}  // namespace tributary::traffic
