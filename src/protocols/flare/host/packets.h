// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/chunks.h"
#include "host/job.h"
#include "host/payload.h"
#include "protocols/flare/host/plan.h"
#include "protocols/flare/wire.h"

namespace tributary::host {

// These are the bytes of a packet's headers, from the IP header on.
inline constexpr std::uint32_t flare_headers_bytes =
    udp_headers_bytes + std::uint32_t{sizeof(wire::FlareHeader)};

// These are the blocks of one collective: `first` and those behind it, of the run `run`, under the
// call's key.
struct FlareBlocks {
  std::uint32_t run = 0;
  std::uint64_t first = 0;
  JobKey key{};
  Chunks chunks;

  // Returns the block past the last one.
  std::uint64_t end() const { return first + chunks.count(); }
  bool has(std::uint64_t block) const { return block >= first && block < end(); }
  // Returns the index by which the collective knows a block. Precondition: has(block).
  std::uint32_t index_of(std::uint64_t block) const {
    return static_cast<std::uint32_t>(block - first);
  }
};

// Returns the tag that `rank` adds to the fingerprint of a block, under the call's key.
std::uint64_t flare_tag(const JobKey& key, std::uint64_t block, std::uint32_t rank);
// Returns the tag of a block to which all ranks contributed once, and which this rank's handler
// combined, if `op` is one.
std::uint64_t flare_total_tag(const JobKey& key, std::uint64_t block, std::uint32_t world_size,
                              wire::Operator op);

// Returns the seed of this rank's timers, of dense or of sparse blocks.
std::uint64_t flare_timer_seed(const Job& job, bool sparse);

// Returns the header of this rank's contribution to a block; it is not sealed.
wire::FlareHeader contribution_header(const Job& job, const FlarePlan& plan,
                                      const FlareBlocks& blocks, std::uint32_t index);

}  // namespace tributary::host
