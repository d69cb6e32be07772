// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/pool.h"
#include "traffic/plain_traffic.h"
#include "traffic/sink.h"
#include "traffic/stations.h"

namespace tributary::traffic {

// So many plain frames, as they would be sent.
void feed_plain(const PlainPlan& plan, const Stations& stations, PacketPool& pool,
                std::uint64_t frames, const Sink& sink);

}  // namespace tributary::traffic
