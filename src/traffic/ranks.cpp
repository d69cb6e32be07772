// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/ranks.h"

#include <algorithm>

namespace tributary::traffic {

Ranks::Ranks(const Stations& stations, std::uint32_t workers) : stations_(stations) {
  for (std::uint32_t rank = 0; rank < workers; ++rank) {
    const std::size_t port = rank % stations.ports();
    const auto index = static_cast<std::uint32_t>(rank / stations.ports());
    ranks_.push_back({port, stations.mac(port, index), stations.address(port, index)});
  }
}

std::uint32_t Ranks::find(std::size_t port, wire::Ipv4Address address) const {
  const auto index = stations_.find(port, address);
  const auto ports = static_cast<std::uint32_t>(stations_.ports());
  return index ? std::min(*index * ports + static_cast<std::uint32_t>(port), count()) : count();
}

}  // namespace tributary::traffic
