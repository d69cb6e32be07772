// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "host/job.h"
#include "protocols/panama/host/packets.h"
#include "wire/rank_mask.h"

namespace tributary::host {

// A result may lack ranks (section 7). Its mask says who is in it, and its fingerprint, the sum of
// their tags, proves that: whoever has the key knows all tags.

// Returns the sum of the tags of the ranks in the mask. `key` is the call's.
std::uint64_t panama_tags_in(const JobKey& key, const PanamaPlace& place,
                             const wire::RankMask& mask);

using PanamaRanks = std::vector<std::uint32_t>;  // increasing

// Returns the ranks that are not in the mask.
PanamaRanks ranks_missing_in(const wire::RankMask& mask, std::uint32_t world_size);

// Knows which packets of a call lack whom. Neighbours mostly lack the same ranks, so it keeps one
// mask for them, in whatever order they come.
class PanamaAbsence {
 public:
  explicit PanamaAbsence(std::uint32_t world_size) : counts_(world_size) {}

  // Forgets the packets of the call before; what was counted stays.
  void begin() { stretches_.clear(); }
  // Notes the mask of a packet that lacks somebody. Precondition: it is the packet's first.
  void note(std::size_t packet, const wire::RankMask& mask);

  struct Stretch {
    std::size_t end = 0;  // behind its last packet
    std::vector<std::byte> mask;
  };
  // By first packet; no two of the same ranks touch.
  const std::map<std::size_t, Stretch>& stretches() const { return stretches_; }
  // How many packets of all calls lack which rank, of those that are missing somewhere.
  std::map<std::uint32_t, std::uint64_t> by_rank() const;

 private:
  std::map<std::size_t, Stretch> stretches_;
  std::vector<std::uint64_t> counts_;  // by rank
};

}  // namespace tributary::host
