// SPDX-License-Identifier: BSD-3-Clause
#include "engines/registry.h"
#include "switch/liveness.h"
#include "switch/spreading.h"
#include "switch/switch.h"
#include "wire/canary.h"

namespace tributary::switching {

unsigned owner_core(Packet& packet, const SwitchConfig& config, unsigned here, unsigned cores) {
  if (cores <= 1 || (!config.canary && !config.bfd)) {
    return here;
  }
  const auto frame = engine::parse_frame(packet);
  if (config.bfd && is_bfd(frame)) {
    return Liveness::core;
  }
  if (!config.canary) {
    return here;
  }
  for (const auto& kind : engine::engine_kinds()) {
    if (kind.protocol.claims(frame)) {
      const auto port = wire::source_port_of(kind.protocol.key(frame));
      return core_of_spread(spread(port), cores);
    }
  }
  return here;
}

}  // namespace tributary::switching
