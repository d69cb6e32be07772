// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "protocols/panama/traffic/frames.h"
#include "traffic/feed.h"

namespace tributary::panama {

// Feeds aggregation that can be replayed for ever, for a switch that is the root: a file for each
// port, with as many frames in all. The first packets of all trees come first, then the next of
// all, so that no tree ever needs more memory than it owns. There are so many collectives of all
// trees, more than a switch remembers. Their numbers go round the circle, so that the first is
// newer than the last when the files begin again.
inline constexpr std::uint32_t panama_collectives_min = wire::panama_epochs_kept + 1;
void feed_panama(const TrafficPlan& plan, std::uint32_t collectives, const traffic::Feed& feed);

}  // namespace tributary::panama
