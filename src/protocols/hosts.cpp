// SPDX-License-Identifier: BSD-3-Clause
#include "host/cube/protocol.h"
#include "host/protocol.h"
#include "protocols/list.h"

namespace tributary {

// Each protocol's folder defines its `host_protocol`.
#define TRIBUTARY_DECLARE(protocol)              \
  namespace protocol {                           \
  extern const host::HostProtocol host_protocol; \
  }
TRIBUTARY_PROTOCOLS(TRIBUTARY_DECLARE)
#undef TRIBUTARY_DECLARE

namespace host {
namespace {

constexpr const HostProtocol* rows[] = {
#define TRIBUTARY_HOST(protocol) &protocol::host_protocol,
    TRIBUTARY_PROTOCOLS(TRIBUTARY_HOST)
#undef TRIBUTARY_HOST
        & cube_protocol,  // without an engine on switches
};

}  // namespace

std::span<const HostProtocol* const> protocols() {
  return rows;
}

}  // namespace host
}  // namespace tributary
