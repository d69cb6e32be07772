// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "packet/fate.h"
#include "packet/pool.h"

namespace tributary::test {

// Plays the switch around one engine: counts what enters, settles what leaves. The ledger has to
// balance after every call.
class EngineHarness {
 public:
  explicit EngineHarness(engine::Engine& engine) : engine_(engine) {}

  // Hands over a burst (null packets are left out) and returns what the engine wants sent.
  std::vector<engine::Departure> process(std::vector<PacketPtr> packets, Time now) {
    std::vector<engine::Arrival> burst;
    for (auto& packet : packets) {
      if (packet != nullptr) {
        auto frame = engine::parse_frame(*packet);
        burst.push_back({std::move(packet), frame});
        ++ledger.received;
      }
    }
    engine_.process(burst, now, actions_);
    return settle();
  }
  std::vector<engine::Departure> process(PacketPtr packet, Time now) {
    std::vector<PacketPtr> burst;
    burst.push_back(std::move(packet));
    return process(std::move(burst), now);
  }
  std::vector<engine::Departure> expire(Time now) {
    engine_.expire(now, actions_);
    return settle();
  }

  std::uint64_t drops(DropReason reason) const {
    return ledger.drops[static_cast<std::size_t>(reason)];
  }
  std::uint64_t losses(DropReason reason) const {
    return ledger.losses[static_cast<std::size_t>(reason)];
  }
  // A figure of the engine; ~0 if it has none of that name.
  std::uint64_t figure(std::string_view name) const {
    for (const auto& figure : engine_.figures()) {
      if (figure.name == name) {
        return figure.value;
      }
    }
    return ~std::uint64_t{0};
  }

  Ledger ledger;

 private:
  std::vector<engine::Departure> settle() {
    std::vector<engine::Departure> departures;
    for (auto& departure : actions_.departures()) {
      ++(departure.received ? ledger.forwarded : ledger.sent);
      departures.push_back(std::move(departure));
    }
    actions_.departures().clear();
    return departures;
  }

  engine::Engine& engine_;
  engine::Actions actions_{ledger};
};

}  // namespace tributary::test
