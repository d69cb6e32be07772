// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "switch/icmp6.h"
#include "switch/resolver.h"
#include "wire/icmp6.h"
#include "wire/ip_address.h"

namespace tributary::switching {

// Asks for neighbours of IPv6 by neighbour discovery (RFC 4861), and answers for the switch. Router
// advertisements are not among its messages: Advertiser6 sends them, and nobody takes any.
class Neighbours6 : public Resolver<wire::IpAddress> {
 public:
  Neighbours6(const SwitchConfig& config, const Interfaces& interfaces, Bridge& bridge,
              Outlet& outlet, CoreShare share, std::uint64_t seed);

  // Sends a frame to a neighbour on `interface`, by the address that it has there.
  void send_on(PacketPtr frame, PortIndex interface, const wire::IpAddress& address,
               Account account, Time now) {
    send(std::move(frame), interface, scoped(address, interface), account, now);
  }

  bool has_sent_on(const Packet& frame, PortIndex interface, const wire::IpAddress& address,
                   Time now) const {
    return has_sent(frame, scoped(address, interface), now);
  }

  // A Message is a sound solicitation or advertisement.
  struct Message {
    bool is_solicitation = false;
    wire::IpAddress source;
    wire::IpAddress destination;
    wire::IpAddress target;
    std::uint32_t flags = 0;                 // of an advertisement
    const wire::MacAddress* link = nullptr;  // of its sender, or of the target; in the packet
    wire::MacAddress frame_source;
  };
  // Tells whether it is a solicitation or an advertisement.
  static bool is_neighbour_discovery(const Carried6& carried);
  // Returns no value if the message is not as RFC 4861 (7.1) wants it. `carried` is sound ICMPv6 of
  // one of both types.
  static std::optional<Message> parse(const Datagram6& datagram, const Carried6& carried);

  // Learns from a message and answers it. Returns true if the switch was asked or answered: nobody
  // else is meant.
  bool receive(const Packet& frame, const Message& message, PortIndex interface, Time now);
  // Learns what another core learned from a frame.
  void learn_quietly(const Packet& frame, PortIndex interface, Time now);
  // Tells everybody on an interface which address the switch has there, if it has one, and the one
  // that embeds the switch's, if that is of the interface's prefix. The link-local address is not
  // announced: it follows from the link-layer address, so that no other can be remembered with it.
  void announce(PortIndex interface, Time now);

  void reconfigure(const SwitchConfig& config);
  std::vector<forwarding::NeighbourRow6> rows(Time now) const;

 private:
  void ask(const Question& question, Time now) override;
  void announce(const wire::IpAddress& address, PortIndex interface, Time now);

  // A link-local address means another neighbour on another link, so in the table it has the
  // interface in the bits that are zero in it (RFC 4291, 2.5.6).
  static wire::IpAddress scoped(const wire::IpAddress& address, PortIndex interface);
  static wire::IpAddress unscoped(const wire::IpAddress& address);

  bool is_known_otherwise(const Message& message, PortIndex interface, Time now);
  bool learn(const Message& message, PortIndex interface, Time now);
  void add_static(const SwitchConfig& config);
  void answer(const Message& question, PortIndex interface, Time now);
  struct Statement {
    std::uint8_t type = 0;
    std::uint32_t flags = 0;
    std::uint8_t option = 0;
    wire::IpAddress source;
    wire::IpAddress destination;
    wire::IpAddress target;
  };
  void send_message(const Statement& statement, PortIndex interface,
                    const wire::MacAddress& destination, Time now);
};

}  // namespace tributary::switching
