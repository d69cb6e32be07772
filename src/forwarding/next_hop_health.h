// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "packet/packet.h"
#include "wire/ip_address.h"

namespace tributary::forwarding {

// An ailment says why a neighbour is not to be used like others.
enum class Ailment : std::uint8_t {
  dead,
  cut_off,  // it works, but something behind it is cut off
  crowded,  // a queue behind it is filling up
};
struct UnhealthyNeighbour {
  wire::IpAddress neighbour;
  Ailment ailment = Ailment::dead;
};

// A table of routes of either version of IP knows this of its next hops: which links are down, and
// which neighbours ail.
class NextHopHealth {
 public:
  void set_interface_up(PortIndex interface, bool up);
  void set_unhealthy(const std::vector<UnhealthyNeighbour>& neighbours) { unhealthy_ = neighbours; }

  // Finds out which of several next hops of one route can be chosen: the dead ones in no case, and
  // those that are cut off only where there are no better ones.
  template <typename Hop>
  void find_usable(const std::vector<Hop>& hops, std::vector<bool>& usable) const {
    auto best = Fitness::poor;
    for (const auto& hop : hops) {
      best = std::max(best, fitness(hop.via, hop.interface));
    }
    usable.clear();
    for (const auto& hop : hops) {
      usable.push_back(fitness(hop.via, hop.interface) == best);
    }
  }
  bool is_crowded(const wire::IpAddress& neighbour) const;

 private:
  enum class Fitness : std::uint8_t { none, poor, good };
  Fitness fitness(const wire::IpAddress& via, PortIndex interface) const;
  const UnhealthyNeighbour* unhealthy_neighbour(const wire::IpAddress& neighbour) const;

  std::vector<PortIndex> down_;
  std::vector<UnhealthyNeighbour> unhealthy_;
};

}  // namespace tributary::forwarding
