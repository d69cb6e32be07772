// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <vector>

#include "engine/frame.h"
#include "engine/protocol.h"
#include "packet/packet.h"
#include "switch/config.h"
#include "wire/embedding_prefix.h"

namespace tributary::switching {

// Embedding brings packets of IPv6 to engines that know hosts by 32 bits. While an engine has such
// a packet, it has a header of IPv4, with the addresses that its own ones embed, and
// Packet::over_ipv6 says so; it leaves as it came (packet/translation.h).
class Embedding {
 public:
  Embedding() = default;
  explicit Embedding(const SwitchConfig& config);

  bool on() const { return prefix_.has_value(); }
  // Returns the address that embeds `address`. Precondition: on().
  wire::IpAddress embed(const wire::Ipv4Address& address) const { return prefix_->embed(address); }

  // Makes a packet one of IPv4 if an engine will take it: it is UDP without extension headers, to a
  // port of that engine, from an address that embeds to another one or to a group that does, and is
  // for the switch on the link layer, or on the bridge in the switch's VLAN. Tags are off. All
  // others stay as they are. What is directly over Ethernet goes by IPv6 if the router's interface
  // by which it came speaks nothing else.
  void enter(Packet& packet) const;
  // Undoes that in a packet which leaves, or in another one that an engine made from it.
  // Precondition: Packet::over_ipv6 is set. There is headroom for what IPv6 needs more.
  void leave(Packet& packet) const;

 private:
  struct Port {
    bool is_bridged = false;
    bool speaks_ipv6 = false;
    bool lacks_ipv4 = false;  // its interface speaks IPv6 alone
    wire::MacAddress mac;
  };
  bool is_for_switch(const Packet& packet, const wire::MacAddress& destination,
                     bool to_group) const;
  bool is_claimed(const engine::Frame& frame) const;
  bool goes_by_ipv6(const Packet& packet, std::uint16_t ethertype) const;

  std::optional<wire::EmbeddingPrefix> prefix_;
  std::uint16_t own_vlan_ = 0;
  std::vector<Port> ports_;
  std::vector<const engine::Protocol*> protocols_;  // of engines that take such packets
  std::bitset<0x10000> is_udp_port_;                // of one of them
};

}  // namespace tributary::switching
