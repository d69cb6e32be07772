// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/engines.h"

#include <array>

#include "protocols/canary/engine/engine.h"
#include "protocols/canary/engine/protocol.h"
#include "protocols/netreduce/engine/engine.h"
#include "protocols/netreduce/engine/protocol.h"
#include "protocols/panama/engine/engine.h"
#include "protocols/panama/engine/protocol.h"

namespace tributary::engine {
namespace {

bool wants_canary(const EngineConfigs& configs) {
  return configs.canary != nullptr;
}

std::unique_ptr<Engine> make_canary(const EngineConfigs& configs, const SwitchIdentity& self,
                                    PacketPool& pool) {
  if (!wants_canary(configs)) {
    return nullptr;
  }
  return std::make_unique<canary::CanaryEngine>(*configs.canary, self, pool);
}

bool reconfigure_canary(Engine& engine, const EngineConfigs& configs) {
  return wants_canary(configs) &&
         static_cast<canary::CanaryEngine&>(engine).reconfigure(*configs.canary);
}

bool wants_panama(const EngineConfigs& configs) {
  return configs.panama != nullptr;
}

std::unique_ptr<Engine> make_panama(const EngineConfigs& configs, const SwitchIdentity& self,
                                    PacketPool& pool) {
  if (!wants_panama(configs)) {
    return nullptr;
  }
  return std::make_unique<panama::PanamaEngine>(*configs.panama, self, pool);
}

bool reconfigure_panama(Engine& engine, const EngineConfigs& configs) {
  return wants_panama(configs) &&
         static_cast<panama::PanamaEngine&>(engine).reconfigure(*configs.panama);
}

bool wants_netreduce(const EngineConfigs& configs) {
  return configs.netreduce != nullptr;
}

std::unique_ptr<Engine> make_netreduce(const EngineConfigs& configs, const SwitchIdentity&,
                                       PacketPool&) {
  if (!wants_netreduce(configs)) {
    return nullptr;
  }
  return std::make_unique<netreduce::NetReduceEngine>(*configs.netreduce);
}

bool reconfigure_netreduce(Engine& engine, const EngineConfigs& configs) {
  if (wants_netreduce(configs)) {
    static_cast<netreduce::NetReduceEngine&>(engine).reconfigure(*configs.netreduce);
  }
  return wants_netreduce(configs);
}

constexpr std::array<EngineKind, 3> kinds = {{
    {canary::protocol, wants_canary, make_canary, reconfigure_canary},
    {panama::protocol, wants_panama, make_panama, reconfigure_panama},
    {netreduce::protocol, wants_netreduce, make_netreduce, reconfigure_netreduce},
}};

}  // namespace

std::span<const EngineKind> engine_kinds() {
  return kinds;
}

}  // namespace tributary::engine
