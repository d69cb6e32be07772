// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/clock.h"

namespace tributary::canary {

// Settings of the Canary engine on one logical switch ([switch.canary] in the configuration).
struct CanaryConfig {
  // Slots of the static descriptor array, per core; a power of two.
  std::uint32_t descriptors = 4096;
  // How long a switch waits for contributions before it sends the partial sum on (3.1.1, 4.3).
  Duration timeout = std::chrono::milliseconds(1);
  // The same on the leader's last hop, the root. All packets of the block come by here and the
  // leader cannot finish without the last of them, so waiting saves it packets and delays nothing;
  // the root sends when it has seen all contributions.
  Duration root_timeout = std::chrono::milliseconds(50);
  // Send a partial sum as soon as as many contributions are in as the block before got here,
  // instead of waiting for the timeout every time. Off: the paper's timeouts alone.
  bool learn_contributions = true;
  // Soft state: a descriptor whose result never came is freed this long after its allocation. Not
  // below the workers' deadline, or a worker that is late loses the others their children.
  Duration age_max = std::chrono::seconds(60);
  // Seed of the slot hash, so that a stranger cannot aim at a slot; 0 draws one at start-up.
  std::uint64_t hash_seed = 0;
};

}  // namespace tributary::canary
