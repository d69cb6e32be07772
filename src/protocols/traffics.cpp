// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/list.h"
#include "traffic/kind.h"

namespace tributary {

// Each protocol's folder defines its `traffic_kind()`.
#define TRIBUTARY_DECLARE(protocol)                     \
  namespace protocol {                                  \
  std::unique_ptr<traffic::TrafficKind> traffic_kind(); \
  }
TRIBUTARY_PROTOCOLS(TRIBUTARY_DECLARE)
#undef TRIBUTARY_DECLARE

namespace traffic {

std::vector<std::unique_ptr<TrafficKind>> protocol_traffic_kinds() {
  std::vector<std::unique_ptr<TrafficKind>> kinds;
#define TRIBUTARY_KIND(protocol) kinds.push_back(protocol::traffic_kind());
  TRIBUTARY_PROTOCOLS(TRIBUTARY_KIND)
#undef TRIBUTARY_KIND
  return kinds;
}

}  // namespace traffic
}  // namespace tributary
