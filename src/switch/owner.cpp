// SPDX-License-Identifier: BSD-3-Clause
#include "engines/registry.h"
#include "forwarding/ecmp.h"
#include "switch/liveness.h"
#include "switch/switch.h"
#include "wire/canary.h"

namespace tributary::switching {
namespace {

// Any constant that no other hash of the key uses: neither slot nor path nor source port may
// depend on the core.
constexpr std::uint64_t owner_seed = 0x6f776e657220636fULL;

}  // namespace

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
      const auto hash = wire::mix_key(kind.protocol.key(frame), owner_seed) >> 32;
      return static_cast<unsigned>(forwarding::pick(static_cast<std::uint32_t>(hash), cores));
    }
  }
  return here;
}

}  // namespace tributary::switching
