// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>

#include "engine/engine.h"
#include "engine/registry.h"
#include "packet/pool.h"
#include "protocols/canary/engine/config.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/panama/engine/config.h"

namespace tributary::engine {

// The settings of every engine on one logical switch; null where it is not configured. Points into
// the configuration that the caller holds; engines copy what they need.
struct EngineConfigs {
  const canary::CanaryConfig* canary = nullptr;
  const panama::PanamaConfig* panama = nullptr;
  const netreduce::NetReduceConfig* netreduce = nullptr;
};

// One engine of Tributary, without an object of it.
struct EngineKind {
  Protocol protocol;

  // Whether `configs` asks for this kind.
  bool (*wanted)(const EngineConfigs& configs);

  // A new engine for one core's share of one logical switch, or null if `configs` does not ask for
  // this kind. `pool` is that core's and outlives the engine.
  std::unique_ptr<Engine> (*make)(const EngineConfigs& configs, const SwitchIdentity& self,
                                  PacketPool& pool);

  // Puts changed settings in force in an engine that this kind made, and keeps the blocks it holds.
  // False, and no change, if the engine has to be made anew for them (or not at all any more).
  bool (*reconfigure)(Engine& engine, const EngineConfigs& configs);
};

// Every engine there is, in the order in which they are asked whether they claim a packet. A new
// engine adds a folder beside this file, a pointer to EngineConfigs and a line in registry.cpp.
std::span<const EngineKind> engine_kinds();

}  // namespace tributary::engine
