// SPDX-License-Identifier: BSD-3-Clause
#include "engines/registry.h"

#include <array>

#include "engines/canary/engine.h"
#include "engines/canary/protocol.h"

namespace tributary::engine {
namespace {

std::unique_ptr<Engine> make_canary(const EngineConfigs& configs, const SwitchIdentity& self,
                                    PacketPool& pool) {
  if (configs.canary == nullptr) {
    return nullptr;
  }
  return std::make_unique<canary::CanaryEngine>(*configs.canary, self, pool);
}

bool reconfigure_canary(Engine& engine, const EngineConfigs& configs) {
  return configs.canary != nullptr &&
         static_cast<canary::CanaryEngine&>(engine).reconfigure(*configs.canary);
}

constexpr std::array<EngineKind, 1> kinds = {{
    {canary::protocol, make_canary, reconfigure_canary},
}};

}  // namespace

std::span<const EngineKind> engine_kinds() {
  return kinds;
}

}  // namespace tributary::engine
