// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "forwarding/config.h"
#include "packet/clock.h"
#include "packet/list.h"

namespace tributary::forwarding {

// An Impairment is a bad cable for one direction of a port: loss, duplication, corruption,
// reordering, delay, in this order. What happens to the n-th packet depends on the configuration
// and its seed alone.
class Impairment {
 public:
  struct Counters {
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t reordered = 0;
    std::uint64_t corrupted = 0;
    std::uint64_t delayed = 0;
  };

  explicit Impairment(const ImpairmentConfig& config) { configure(config); }

  // Packets that are held back stay. The sequence of draws starts anew.
  void configure(const ImpairmentConfig& config);
  bool active() const { return active_; }

  // Takes a packet; what comes out at once goes to `ready`.
  void pass(PacketPtr packet, Time now, PacketList& ready);
  // Appends packets whose delay is over.
  void poll(Time now, PacketList& ready);
  Time deadline() const { return packets() == 0 ? never : first_due(); }
  void clear();
  std::size_t packets() const { return held_.size() + delayed_.size(); }

  const Counters& counters() const { return counters_; }

 private:
  Time first_due() const;
  // A packet that waits for later ones to overtake it goes after this time in any case.
  static constexpr Duration hold_max = std::chrono::milliseconds(10);

  struct Held {
    PacketPtr packet;
    std::uint32_t overtakers;  // how many still have to pass
    Time due;
  };
  struct Delayed {
    Time due;
    std::uint64_t order;
    PacketPtr packet;
  };

  std::uint64_t draw();
  bool happens(double probability);
  void corrupt(Packet& packet);
  void pass_copy(PacketPtr packet, Time now, PacketList& ready);
  void overtake(Time now, PacketList& ready);
  void deliver(PacketPtr packet, Time now, PacketList& ready);
  static bool later(const Delayed& a, const Delayed& b);

  ImpairmentConfig config_;
  bool active_ = false;
  std::uint64_t drawn_ = 0;
  std::uint64_t order_ = 0;
  std::vector<Held> held_;
  std::vector<Delayed> delayed_;  // a heap, earliest first
  Counters counters_;
};

}  // namespace tributary::forwarding
