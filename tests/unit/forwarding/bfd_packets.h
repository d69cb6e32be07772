// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "forwarding/bfd_session.h"
#include "unit/forwarding/start.h"

namespace tributary::forwarding {

// A packet of a neighbour whose discriminator is 7, and which asks for 100 ms in both directions.
inline wire::BfdHeader from_neighbour(wire::BfdState state, std::uint8_t flags = 0) {
  wire::BfdHeader header;
  header.state_flags = static_cast<std::uint8_t>((static_cast<unsigned>(state) << 6) | flags);
  header.detect_multiplier = 3;
  header.my_discriminator = std::uint32_t{7};
  header.your_discriminator = std::uint32_t{1};
  header.desired_min_tx_us = std::uint32_t{100'000};
  header.required_min_rx_us = std::uint32_t{100'000};
  return header;
}

inline BfdSession in_state(wire::BfdState state) {
  BfdSession session({std::chrono::milliseconds(100), 3}, 1, 42);
  if (state == wire::BfdState::admin_down) {
    session.disable();
  }
  if (state == wire::BfdState::init || state == wire::BfdState::up) {
    session.receive(from_neighbour(wire::BfdState::down), start);
  }
  if (state == wire::BfdState::up) {
    session.receive(from_neighbour(wire::BfdState::init), start);
  }
  EXPECT_EQ(session.state(), state);
  return session;
}

// Returns everything that must be sent by `now`.
inline std::vector<wire::BfdHeader> sent(BfdSession& session, Time now) {
  std::vector<wire::BfdHeader> packets;
  while (const auto packet = session.poll(now)) {
    packets.push_back(*packet);
    session.count_sent();
  }
  return packets;
}

// Drives the session alone from one deadline to the next, and returns the times at which it sent.
inline std::vector<Time> run(BfdSession& session, Time from, Time until) {
  std::vector<Time> times;
  for (Time now = from; now < until;
       now = std::max(now + std::chrono::microseconds(1), session.deadline())) {
    session.expire(now);
    times.insert(times.end(), sent(session, now).size(), now);
  }
  return times;
}

}  // namespace tributary::forwarding
