// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "packet/clock.h"
#include "packet/pool.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/epochs.h"
#include "protocols/panama/engine/headers.h"

namespace tributary::panama {

// Where a child's packets of an epoch wait that the tree has not begun: so many as a sender may
// send before it has a result. They stand beside the tree's memory, which may be full of what a job
// has left that was killed.
struct EarlyPackets {
  Round round;  // of the packets
  Time since{};
  std::array<PacketPtr, initial_window> packets;

  std::uint32_t count() const {
    return static_cast<std::uint32_t>(std::count_if(
        packets.begin(), packets.end(), [](const PacketPtr& packet) { return packet != nullptr; }));
  }
  // Workers behind the packet with most of them.
  std::uint32_t contributions() const {
    std::uint32_t most = 0;
    for (const auto& packet : packets) {
      most = packet == nullptr
                 ? most
                 : std::max<std::uint32_t>(most, header_in(*packet).contributions.value());
    }
    return most;
  }
  bool is_at(const Round& other) const { return round == other && count() != 0; }
  // Where that VID waits or may wait; null where others do.
  PacketPtr* place_of(std::uint32_t vid) {
    const auto find = [this](auto fits) {
      const auto found = std::find_if(packets.begin(), packets.end(), fits);
      return found == packets.end() ? nullptr : &*found;
    };
    auto* same = find([vid](const PacketPtr& packet) {
      return packet != nullptr && header_in(*packet).vid.value() == vid;
    });
    return same != nullptr ? same : find([](const PacketPtr& packet) { return packet == nullptr; });
  }
};

}  // namespace tributary::panama
