// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "host/job.h"
#include "protocols/panama/host/packets.h"
#include "wire/cursor.h"
#include "wire/rank_mask.h"

namespace tributary::host {

// A result may lack ranks (section 7). Its mask says who is in it, and its fingerprint, the sum of
// their tags, proves that: whoever has the key knows all tags.

using PanamaRanks = std::vector<std::uint32_t>;  // increasing

// Returns the ranks that a result lacks by its mask; no value if its fingerprint is that of others,
// so that the result is not what the ranks in the mask contributed. `key` is the call's.
std::optional<PanamaRanks> missing_in(const JobKey& key, const PanamaPlace& place,
                                      const wire::RankMask& mask, std::uint64_t fingerprint,
                                      std::uint32_t world_size);

// Returns the mask of all ranks but these.
std::vector<std::byte> mask_without(const PanamaRanks& missing, std::uint32_t world_size);

}  // namespace tributary::host
