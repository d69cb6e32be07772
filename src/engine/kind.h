// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <any>
#include <memory>
#include <type_traits>
#include <vector>

#include "engine/engine.h"
#include "engine/figures.h"
#include "engine/protocol.h"
#include "packet/pool.h"

namespace tributary::engine {

// An EngineKind makes and sets up the engines of one protocol; it needs no engine object.
struct EngineKind {
  Protocol protocol;

  // Makes an engine for one core's share of one logical switch. `settings` holds the protocol's own
  // structure; `pool` is that core's and outlives the engine.
  std::unique_ptr<Engine> (*make)(const std::any& settings, const SwitchIdentity& self,
                                  PacketPool& pool);

  // Puts changed settings in force in an engine that this kind made, and keeps the blocks it holds.
  // Returns false, and changes nothing, if the engine has to be made anew for them.
  bool (*reconfigure)(Engine& engine, const std::any& settings);

  // Returns whether cores add up what arrives there of blocks that other cores own.
  bool (*has_partial_sums)(const std::any& settings);

  // Returns what its engines tell of themselves (Engine::figures()) and of their trees.
  std::vector<FigureKind> (*figure_kinds)();
};

// Returns the kind of a class of engines that has a constructor, a reconfigure() and a static
// figure_kinds() as above, and whose settings are a Config.
template <typename Class, typename Config>
constexpr EngineKind kind_of(const Protocol& protocol) {
  return {protocol,
          [](const std::any& settings, const SwitchIdentity& self,
             PacketPool& pool) -> std::unique_ptr<Engine> {
            const auto& config = *std::any_cast<Config>(&settings);
            if constexpr (std::is_constructible_v<Class, const Config&>) {
              return std::make_unique<Class>(config);  // this class makes no packets
            } else {
              return std::make_unique<Class>(config, self, pool);
            }
          },
          [](Engine& engine, const std::any& settings) {
            return static_cast<Class&>(engine).reconfigure(*std::any_cast<Config>(&settings));
          },
          []([[maybe_unused]] const std::any& settings) {
            if constexpr (requires { Config::partial_sums; }) {
              return std::any_cast<Config>(&settings)->partial_sums;
            } else {
              return false;
            }
          },
          &Class::figure_kinds};
}

}  // namespace tributary::engine
