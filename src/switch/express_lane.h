// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "packet/clock.h"
#include "packet/packet.h"
#include "switch/bridge_lane.h"
#include "switch/classifier.h"
#include "switch/interfaces.h"
#include "switch/router_lane.h"

namespace tributary::switching {

// ExpressLane is the short way of ordinary packets that are as expected, a stage at a time. It does
// with each what the general way does, and leaves alone those about which it does not know
// everything.
class ExpressLane {
 public:
  static constexpr std::size_t stage_packets = 32;
  using Stage = std::span<PacketPtr>;  // at most stage_packets

  ExpressLane(const Interfaces& interfaces, const Classifier& classifier, RouterLane router,
              BridgeLane bridge)
      : interfaces_(interfaces), classifier_(classifier), router_(router), bridge_(bridge) {}

  // Finds out which packets it expects, and prefetches what they look up. Their tags are off.
  void look_at(Stage stage);
  bool expects(std::size_t number) const { return (expected_ >> number & 1) != 0; }
  // Sends the packets of the stage from `first` on, up to one that is not as expected. Returns the
  // number of that one, or of the end.
  std::size_t send_from(std::size_t first, Stage stage, Time now) {
    return expects(first) ? send_expected(first, stage, now) : first;
  }

 private:
  struct Ticket {
    bool bridged = false;
    RouterLane::Ticket router;
    BridgeLane::Ticket bridge;
  };

  template <bool has_vlans>
  bool look_at(const Packet& packet, Ticket& ticket) const;
  template <bool has_vlans>
  void look_at_all(Stage stage);
  template <bool has_vlans>
  std::size_t send_run(std::size_t first, Stage stage, Time now);
  std::size_t send_expected(std::size_t first, Stage stage, Time now);

  const Interfaces& interfaces_;
  const Classifier& classifier_;
  RouterLane router_;
  BridgeLane bridge_;
  std::array<Ticket, stage_packets> tickets_;
  std::uint64_t expected_ = 0;  // a bit for each packet of the stage, and a 0 behind the last
  static_assert(stage_packets < 64);
};

}  // namespace tributary::switching
