// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "host/ring/ring.h"
#include "host/transport/tcp.h"
#include "unit/host/loopback.h"

namespace tributary::host::test {

// Runs `body` for each of two ranks, between which the TCP ring works.
inline void run_two_on_a_ring(
    const std::function<void(std::uint32_t rank, Ring& ring, Time until)>& body) {
  std::array<Listener, 2> listeners;
  Meeting meeting;
  for (std::uint8_t rank = 0; rank < 2; ++rank) {
    const wire::Ipv4Address address(127, 0, 0, static_cast<std::uint8_t>(rank + 1));
    listeners[rank] = *listen_on({address, 0});
    meeting.job.peers.push_back({address, 0});
    meeting.ring.push_back(listeners[rank].local);
  }
  run_ranks(2, [&](std::uint32_t rank) {
    auto mine = meeting;
    mine.job.rank = rank;
    const auto until = Clock::now() + std::chrono::seconds(60);
    auto ring = *Ring::connect(mine, std::move(listeners[rank]), until);
    body(rank, ring, until);
  });
}

}  // namespace tributary::host::test
