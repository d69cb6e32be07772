// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/clock.h"
#include "packet/packet.h"
#include "protocols/canary/engine/block_store.h"
#include "protocols/canary/engine/config.h"

namespace tributary::canary {

// Decides which blocks get a descriptor, by quotas, partitions and soft state (3.2, 3.4, 6). It
// works on a store and by settings that outlive it.
class Admission {
 public:
  struct Counters {
    std::uint64_t quota_job = 0;       // refused: the job's share is taken
    std::uint64_t quota_port = 0;      // refused: the port's share is taken
    std::uint64_t partition_none = 0;  // refused: the job has no partition
    std::uint64_t reclaimed = 0;       // descriptors whose result never came, for another block
    std::uint64_t superseded = 0;      // descriptors whose block began a later attempt
  };

  Admission(const CanaryConfig& config, BlockStore& blocks) : config_(config), blocks_(blocks) {}

  // Returns why a block may have no descriptor that would be of this share, though the table may
  // have room: the counter of the reason, which is the caller's to count up. Null: it may.
  std::uint64_t* refusal(std::uint64_t key, const Tenants::Share& share, Time now);
  // Gives a descriptor to a block that is not refused; null is a collision.
  Descriptor* occupy(std::uint64_t key, Time now, Time expiry);

  const Counters& counters() const { return counters_; }

 private:
  bool has_part(std::uint32_t job, Time now);
  bool reclaim_for(Tenants::Verdict verdict, std::uint32_t job, PortIndex port, Time now);
  void reclaim(Descriptor& block);

  const CanaryConfig& config_;
  BlockStore& blocks_;
  Counters counters_;
};

}  // namespace tributary::canary
