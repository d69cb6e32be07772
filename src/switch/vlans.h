// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "forwarding/flow_control.h"
#include "packet/fate.h"
#include "packet/packet.h"
#include "switch/config.h"
#include "wire/vlan.h"

namespace tributary::switching {

// Vlans knows which ports of a bridge carry which VLANs (IEEE 802.1Q), and what becomes of tags at
// their edge: behind it, frames have none, and Packet::vlan says where they belong. If no port of a
// bridge is in a VLAN, it looks at no tags: all its frames are in VLAN 0, which all its ports
// carry.
class Vlans {
 public:
  Vlans() = default;
  explicit Vlans(const SwitchConfig& config);

  bool on() const { return on_; }
  // Returns the VLAN of the switch itself, on a bridge with VLANs; 0: it is in none.
  std::uint16_t own() const { return own_; }
  // Returns the VLAN of a frame; a frame that begins at the switch is in the switch's own.
  std::uint16_t vid_of(const Packet& frame) const {
    const auto vid = wire::vid_of(frame.vlan);
    return vid != 0 ? vid : own_;
  }
  // Says whether a frame that came in may mean the switch itself.
  bool is_own(const Packet& frame) const { return wire::vid_of(frame.vlan) == own_; }
  bool carries(PortIndex port, std::uint16_t vid) const { return ports_[port].carried[vid]; }

  // Puts a frame without a tag into a VLAN, with the class in which it will wait as priority.
  static void put_into(Packet& frame, std::uint16_t vid);

  // Both are called only where VLANs are on.
  // Takes the tag off a frame that came in and notes it, or says why the frame goes no further. A
  // frame that was noted, or came by a routed port, stays as it is; so does one for the port itself
  // (01:80:c2:00:00:0x), which is in no VLAN.
  std::optional<DropReason> enter(Packet& frame) const;
  // Puts the tag on that a frame has where it leaves by this port, or says why it may not go.
  std::optional<DropReason> leave(Packet& frame, PortIndex to) const;

 private:
  struct Port {
    bool is_bridged = false;
    bool takes_tags = false;
    std::uint16_t untagged = 0;
    std::bitset<wire::vids> carried;
  };

  // Returns what the tag of a frame says whose outer one is off; nested: there is another one.
  std::uint16_t control_of(const Packet& frame, bool is_nested) const;

  bool on_ = false;
  std::uint16_t own_ = 0;
  // Where a class has a priority, neighbours that trust tags are to see it.
  std::optional<forwarding::PriorityMap> priorities_;
  std::vector<Port> ports_;
};

}  // namespace tributary::switching
