// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "traffic/feed.h"
#include "traffic/plain_traffic.h"

namespace tributary::traffic {

// Feeds `frames` plain frames, as they would be sent.
void feed_plain(const PlainPlan& plan, std::uint64_t frames, const Feed& feed);

}  // namespace tributary::traffic
