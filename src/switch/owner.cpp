// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/engines.h"
#include "switch/aggregation.h"
#include "switch/liveness.h"
#include "switch/spreading.h"
#include "switch/switch.h"
#include "wire/key.h"
#include "wire/spread.h"

namespace tributary::switching {

unsigned owner_core(Packet& packet, const SwitchConfig& config, unsigned here, unsigned cores) {
  if (cores <= 1 || (!config.canary && !config.panama && !config.netreduce && !config.bfd)) {
    return here;
  }
  const auto frame = engine::parse_frame(packet);
  if (config.bfd && is_bfd(frame)) {
    return Liveness::core;
  }
  const auto configs = engine_configs(config);
  for (const auto& kind : engine::engine_kinds()) {
    if (kind.wanted(configs) && kind.protocol.claims(frame)) {
      const auto port = wire::source_port_of(kind.protocol.key(frame));
      return core_of_spread(wire::spread(port), cores);
    }
  }
  return here;
}

}  // namespace tributary::switching
