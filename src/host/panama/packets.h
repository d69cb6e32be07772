// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/job.h"
#include "host/panama/parcels.h"
#include "wire/panama.h"

namespace tributary::host {

// A packet of the job in its collective number `epoch`.
struct PanamaPlace {
  std::uint32_t epoch = 0;
  std::uint32_t tree = 0;
  std::uint32_t vid = 0;
};

// Number of a run's first collective. Each run has a key of its own, so runs of a job number theirs
// differently: nothing that one has left in switches or on the way can be part of another's, also
// where a sum may lack somebody and its fingerprint proves nothing.
std::uint32_t panama_first_epoch(const JobKey& key);

// The tag that `rank` adds to the fingerprint of a packet: SipHash-2-4 under the call's key.
std::uint64_t panama_tag(const JobKey& key, const PanamaPlace& place, std::uint32_t rank);
// Of a packet to which all ranks contributed once.
std::uint64_t panama_total_tag(const JobKey& key, const PanamaPlace& place,
                               std::uint32_t world_size);

// Header of this rank's contribution; not sealed.
wire::PanamaHeader contribution_header(const Job& job, const JobKey& key, const Parcels& parcels,
                                       const PanamaPlace& place);

}  // namespace tributary::host
