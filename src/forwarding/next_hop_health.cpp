// SPDX-License-Identifier: BSD-3-Clause
#include "forwarding/next_hop_health.h"

namespace tributary::forwarding {

void NextHopHealth::set_interface_up(PortIndex interface, bool up) {
  std::erase(down_, interface);
  if (!up) {
    down_.push_back(interface);
  }
}

const UnhealthyNeighbour* NextHopHealth::unhealthy_neighbour(
    const wire::IpAddress& neighbour) const {
  const auto found =
      std::find_if(unhealthy_.begin(), unhealthy_.end(),
                   [&](const UnhealthyNeighbour& each) { return each.neighbour == neighbour; });
  return found == unhealthy_.end() ? nullptr : &*found;
}

bool NextHopHealth::is_crowded(const wire::IpAddress& neighbour) const {
  const auto* const unhealthy = unhealthy_neighbour(neighbour);
  return unhealthy != nullptr && unhealthy->ailment == Ailment::crowded;
}

NextHopHealth::Fitness NextHopHealth::fitness(const wire::IpAddress& via,
                                              PortIndex interface) const {
  if (std::find(down_.begin(), down_.end(), interface) != down_.end()) {
    return Fitness::none;
  }
  const auto* const unhealthy = unhealthy_neighbour(via);
  if (unhealthy == nullptr || unhealthy->ailment == Ailment::crowded) {
    return Fitness::good;
  }
  return unhealthy->ailment == Ailment::dead ? Fitness::none : Fitness::poor;
}

}  // namespace tributary::forwarding
