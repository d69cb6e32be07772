// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/job.h"
#include "host/payload.h"
#include "protocols/panama/host/chunks.h"
#include "protocols/panama/wire.h"

namespace tributary::host {

// These are the bytes of a packet's headers, from the IP header on.
inline constexpr std::uint32_t panama_headers_bytes =
    udp_headers_bytes + std::uint32_t{sizeof(wire::PanamaHeader)};

// Returns the bytes of a packet that are not elements. Where sums may do without ranks, a mask of
// those in the sum is behind the elements.
constexpr std::uint32_t panama_overhead_bytes(std::uint32_t quorum, std::uint32_t world_size) {
  const auto mask = quorum < world_size ? wire::rank_mask_bytes(world_size) : 0;
  return panama_headers_bytes + static_cast<std::uint32_t>(mask);
}

// Names a packet of the run `run` of a job, in its collective number `epoch`.
struct PanamaPlace {
  std::uint32_t run = 0;
  std::uint32_t epoch = 0;
  std::uint32_t tree = 0;
  std::uint32_t vid = 0;
};

// Names the run of a job whose ranks agreed on that key when they met. What another run has left in
// switches or on the way can be no part of this one's: sums of both would have to be thrown away.
std::uint32_t panama_run(const JobKey& key);

// Returns the tag that `rank` adds to the fingerprint of a packet, under the call's key.
std::uint64_t panama_tag(const JobKey& key, const PanamaPlace& place, std::uint32_t rank);
// Returns the sum of the tags of the ranks before `rank`.
std::uint64_t panama_tags_before(const JobKey& key, const PanamaPlace& place, std::uint32_t rank);
// Returns the sum of the tags of a packet to which all ranks contributed once.
std::uint64_t panama_total_tag(const JobKey& key, const PanamaPlace& place,
                               std::uint32_t world_size);

// Returns the header of this rank's contribution to the call that `key` is of; it is not sealed.
wire::PanamaHeader contribution_header(const Job& job, const JobKey& key,
                                       const PanamaChunks& chunks, const PanamaPlace& place);

}  // namespace tributary::host
