// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "device.h"
#include "engine/frame.h"
#include "flare_load.h"
#include "packet/list.h"
#include "packet/pool.h"
#include "switch/owners.h"

namespace tributary::perf {

// Two cores of a switch, one after the other. All that the second one owns comes to the first,
// which adds it up and hands over sums.
class TwoCores {
 public:
  explicit TwoCores(const FlareShape& shape)
      : load_(shape),
        owners_(load_.config(), 2),
        here_(load_.config(), 2 * load_.packets(), {0, 2}),
        owner_(load_.config(), 2 * load_.packets(), {1, 2}) {}

  Device& here() { return here_; }
  Device& owner() { return owner_; }

  // What comes to the first core, of up to so many packets of all.
  PacketList next(std::size_t count) {
    auto packets = load_.next(here_.pool(), count);
    PacketList of_the_owner;
    while (auto packet = packets.pop()) {
      owners_.core_of(*packet, 0);
      if ((packet->noted & engine::noted::elsewhere) != 0) {
        of_the_owner.push(std::move(packet));
      }
    }
    return of_the_owner;
  }
  std::uint32_t turn() const { return load_.turn(); }

  // Between bursts: the sums arrive at their owner, whose pool they are of then.
  PacketList settle() {
    PacketList arrived;
    const auto sums = here_.partial_sums();
    for (const auto* sum = sums.front(); sum != nullptr; sum = sum->next) {
      auto copy = owner_.pool().clone(*sum);
      copy->noted = sum->noted;
      arrived.push(std::move(copy));
    }
    here_.settle();
    owner_.settle();
    return arrived;
  }

 private:
  FlareLoad load_;
  switching::Owners owners_;
  Device here_;
  Device owner_;
};

}  // namespace tributary::perf
