// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/actions.h"
#include "engine/engine.h"
#include "packet/pool.h"
#include "protocols/engines.h"
#include "switch/classifier.h"
#include "switch/config.h"
#include "switch/interfaces.h"
#include "switch/switch.h"

namespace tributary::switching {

// Aggregation has the engines of one core of a switch, and the packets of the current burst that
// they claimed: each engine is called once per burst.
class Aggregation {
 public:
  Aggregation(const SwitchConfig& config, const Interfaces& interfaces, PacketPool& pool,
              unsigned cores);

  struct Slot {
    const engine::EngineKind* kind = nullptr;
    std::unique_ptr<engine::Engine> engine;
    std::vector<engine::Arrival> burst;
    std::vector<engine::Arrival> elsewhere{};  // of blocks that other cores own
  };
  // Returns the engine that claims this frame, or null if none does.
  Slot* claimed_by(const engine::Frame& frame) {
    return slots_.empty() ? nullptr : by_claim_[classifier_.claim_on(frame)];
  }
  // The claim is known if the frame was classified before.
  Slot* claimed_by(std::uint8_t claim) { return by_claim_[claim]; }
  const Classifier& classifier() const { return classifier_; }

  void process(Time now, engine::Actions& actions);
  void expire(Time now, engine::Actions& actions);
  Time deadline() const;
  // Blocks that engines hold are kept, unless an engine has to be made anew for its settings.
  void reconfigure(const SwitchConfig& config);
  std::vector<EngineView> views() const;

 private:
  static constexpr std::size_t burst_reserve = 512;

  engine::SwitchIdentity self_;
  PacketPool& pool_;
  std::vector<Slot> slots_;
  std::array<Slot*, engine::noted::claims + 1> by_claim_{};  // null: the protocol is off
  Classifier classifier_;
};

}  // namespace tributary::switching
