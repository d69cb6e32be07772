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
  if (cores <= 1 || (config.protocols.empty() && !config.bfd)) {
    return here;
  }
  const auto frame = engine::parse_frame(packet);
  if (config.bfd && is_bfd(frame)) {
    return Liveness::core;
  }
  const auto kinds = protocols::engines();
  for (std::size_t row = 0; row < kinds.size(); ++row) {
    const auto& protocol = kinds[row]->protocol;
    if (config.protocols.of(row).has_value() && protocol.claims(frame)) {
      const auto port = wire::source_port_of(protocol.key(frame));
      return core_of_spread(wire::spread(port), cores);
    }
  }
  return here;
}

}  // namespace tributary::switching
