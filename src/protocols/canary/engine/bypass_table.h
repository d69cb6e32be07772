// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "packet/packet.h"
#include "protocols/canary/engine/lazy_array.h"
#include "protocols/canary/engine/message.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// Describes a contribution that went to its leader unadded (3.2.1), by what the leader has to say
// of it to have its child restored.
struct Bypassed {
  std::uint64_t key = 0;  // of the block
  wire::Ipv4Address leader;
  wire::Ipv4Address child;
  std::uint16_t child_port = 0;
  PortIndex port = 0;
  wire::MacAddress mac;

  // `message` is the marked contribution, or the restoration. Directly over Ethernet nothing tells
  // who sends that, so there the leader does not count.
  static Bypassed of(const Message& message, wire::Ipv4Address leader, PortIndex port) {
    const auto& header = *message.header;
    return {header.key(),
            message.is_udp() ? leader : wire::Ipv4Address{},
            header.child_address,
            header.child_port.value(),
            port,
            header.child_mac};
  }
  friend bool operator==(const Bypassed&, const Bypassed&) = default;
};

// Remembers the latest of these that no restoration has come for. A switch sends nothing to a place
// that somebody names unless a contribution has come from there, and once only. The table is
// bounded: a new one takes the place of the oldest of its set, whose child asks its leader then.
class BypassTable {
 public:
  static constexpr std::size_t ways = 4;

  // Has room for `count`, a power of two, and remembers 98 of 100 of the latest quarter of so many:
  // some sets are full before others.
  BypassTable(std::size_t count, std::uint64_t seed);

  void note(const Bypassed& bypassed);
  // Forgets it; returns whether it was noted.
  bool take(const Bypassed& bypassed);

 private:
  Bypassed* set_of(const Bypassed& bypassed);

  std::size_t mask_;
  std::uint64_t seed_;
  LazyArray<Bypassed> entries_;  // sets of `ways`, the newest first; no child: empty
};

}  // namespace tributary::canary
