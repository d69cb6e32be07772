// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>

#include "packet/packet.h"
#include "packet/pool.h"
#include "traffic/stations.h"

namespace tributary::traffic {

// A Feed takes frames for files: it tells who sends them, of what they are made, and who takes
// them. The packet stays with the feed.
struct Feed {
  const Stations& stations;
  PacketPool& pool;
  std::function<void(std::size_t file, Packet& frame)> take;

  // Takes one frame, which `write` makes of an empty packet.
  template <typename Write>
  void put(std::size_t file, Write write) const {
    const auto packet = pool.allocate();
    write(*packet);
    take(file, *packet);
  }
};

}  // namespace tributary::traffic
