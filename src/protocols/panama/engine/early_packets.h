// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/clock.h"
#include "packet/pool.h"
#include "protocols/panama/engine/config.h"
#include "protocols/panama/engine/epochs.h"
#include "protocols/panama/engine/headers.h"

namespace tributary::panama {

// Holds the packets of epochs that a tree has not begun, by child: of one epoch each, and as many
// as a sender may send before it has a result. They stand beside the tree's memory, which may be
// full of what a job has left that was killed.
class EarlyPackets {
 public:
  struct OfChild {
    Round round;
    Time since{};
    std::array<PacketPtr, initial_window> packets;

    std::uint32_t count() const {
      return static_cast<std::uint32_t>(packets.size()) -
             static_cast<std::uint32_t>(std::count(packets.begin(), packets.end(), nullptr));
    }
    // Returns where that VID waits or may wait; null where others do.
    PacketPtr* place_of(std::uint32_t vid) {
      PacketPtr* free = nullptr;
      for (auto& packet : packets) {
        if (packet != nullptr && header_in(*packet).vid.value() == vid) {
          return &packet;
        }
        free = free == nullptr && packet == nullptr ? &packet : free;
      }
      return free;
    }
  };
  // Sums up what is there of an epoch.
  struct OfEpoch {
    std::uint64_t children = 0;  // by index
    std::uint32_t workers = 0;   // behind them: each child's packet with most of them
    std::uint32_t lowest_vid = ~std::uint32_t{0};
    bool again = false;  // some were sent before
  };

  explicit EarlyPackets(std::size_t children) : of_(children) {}

  OfChild& operator[](std::size_t child) { return of_[child]; }
  const OfChild& operator[](std::size_t child) const { return of_[child]; }

  OfEpoch find(const Round& round) const {
    OfEpoch all;
    for (std::size_t child = 0; child < of_.size(); ++child) {
      std::uint32_t most = 0;
      for (const auto& packet : of_[child].packets) {
        if (packet != nullptr && of_[child].round == round) {
          const auto& header = header_in(*packet);
          most = std::max<std::uint32_t>(most, header.contributions.value());
          all.children |= std::uint64_t{1} << child;
          all.lowest_vid = std::min(all.lowest_vid, header.vid.value());
          all.again |= header.retransmission();
        }
      }
      all.workers += most;
    }
    return all;
  }
  std::uint32_t count() const {
    std::uint32_t sum = 0;
    for (const auto& child : of_) {
      sum += child.count();
    }
    return sum;
  }
  // Returns the child whose packets have waited for longest; null where none do.
  const OfChild* longest() const {
    const OfChild* found = nullptr;
    for (const auto& child : of_) {
      if (child.count() != 0 && (found == nullptr || child.since < found->since)) {
        found = &child;
      }
    }
    return found;
  }

 private:
  std::vector<OfChild> of_;
};

}  // namespace tributary::panama
