// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "packet/clock.h"
#include "packet/packet.h"
#include "protocols/list.h"

namespace tributary::canary {

// This is what is configured for one job ([[switch.canary.job]]).
struct JobRule {
  std::uint32_t job = 0;
  // Packets of the job are taken from these ports only; empty: from all.
  std::vector<PortIndex> ports;
  std::uint32_t quota = 0;  // of descriptors; 0: as for every job
};

// These are the settings of the Canary engine on one logical switch ([switch.canary] in the
// configuration).
struct CanaryConfig {
  static constexpr auto row = protocols::Row::canary;

  // The static descriptor array has so many slots, per core; a power of two.
  std::uint32_t descriptors = 4096;
  // A switch waits so long for contributions before it sends the partial sum on (3.1.1, 4.3). No
  // value: it waits as long as the job's blocks before needed, within the bounds (the paper's
  // future work, 5.2.5; no fixed value is good for every link and size).
  std::optional<Duration> timeout;
  Duration timeout_min = std::chrono::microseconds(50);
  Duration timeout_max = std::chrono::milliseconds(50);
  // timeout_max has this default where contributions are not learned: there every block waits for
  // the timeout on every level, and each would learn what the one below waits.
  static constexpr Duration timeout_max_unlearned = std::chrono::milliseconds(20);
  // On the leader's last hop, the root, a switch waits so long. All packets of the block come by
  // here and the leader cannot finish without the last of them, so waiting saves it packets and
  // delays nothing; the root sends when it has seen all contributions.
  Duration root_timeout = std::chrono::milliseconds(50);
  // On: a partial sum is sent as soon as as many contributions are in as the block before got here,
  // instead of after the timeout every time. Off: only the paper's timeouts count.
  bool learn_contributions = true;
  // The state is soft: a descriptor that has sent its sum and is that old makes room for a new
  // block that needs its slot. Should its result still come, the children ask the leader for it.
  Duration reclaim_after = std::chrono::milliseconds(500);
  // A descriptor whose result never came is freed this long after its allocation.
  Duration age_max = std::chrono::seconds(5);
  // One job may hold so many descriptors, and packets of one port may have begun so many; 0: a
  // share of the table (Tenants::default_quota). A quota that is met is treated as a collision.
  std::uint32_t job_quota = 0;
  std::uint32_t port_quota = 0;
  // If this is more than 0, the table is divided among so many jobs, at most Partitions::count_max.
  std::uint32_t partitions = 0;
  std::vector<JobRule> jobs;  // each job once
  // This is the seed of the slot hash, so that a stranger cannot aim at a slot; 0 draws one at
  // start-up.
  std::uint64_t hash_seed = 0;

  // Returns how old a descriptor becomes. A block that still gathers is never freed: its time to
  // send comes first.
  Duration age_limit() const {
    return std::max({age_max, timeout.value_or(timeout_max), root_timeout});
  }
};

}  // namespace tributary::canary
