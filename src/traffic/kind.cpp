// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/kind.h"

#include <utility>

namespace tributary::traffic {

std::vector<std::unique_ptr<TrafficKind>> traffic_kinds() {
  auto kinds = protocol_traffic_kinds();
  std::vector<UdpPorts> taken;
  for (const auto& kind : kinds) {
    if (const auto ports = kind->udp_ports()) {
      taken.push_back(*ports);
    }
  }
  kinds.insert(kinds.begin(), plain_traffic_kind(std::move(taken)));
  return kinds;
}

}  // namespace tributary::traffic
