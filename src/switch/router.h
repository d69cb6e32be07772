// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "engine/actions.h"
#include "engine/frame.h"
#include "forwarding/route_table.h"
#include "switch/hop_chooser.h"
#include "switch/icmp.h"
#include "switch/interfaces.h"
#include "switch/liveness.h"
#include "switch/neighbours.h"
#include "switch/outlet.h"
#include "wire/checksum.h"

namespace tributary::switching {

// Says whether the source or destination must not be routed (RFC 1812, 5.3.7), or is a group, which
// the router does not serve.
inline bool is_unroutable(const wire::Ipv4Header& ip) {
  return !ip.source.is_routable_unicast() || !ip.destination.is_routable_unicast();
}

// Says whether the packet must stay on its link, whatever the routes (RFC 3927, 2.7 and 7).
inline bool is_of_one_link(const wire::Ipv4Header& ip) {
  return ip.source.is_link_local() || ip.destination.is_link_local();
}

// Makes the TTL, which is not 0, one less, and updates the checksum (RFC 1624): it grows by as
// much, and by the carry.
inline void decrement_ttl(wire::Ipv4Header& ip) {
  --ip.ttl;
  const std::uint32_t sum = ip.checksum.value() + 0x100u;
  ip.checksum = static_cast<std::uint16_t>(sum + (sum >= 0xffff ? 1 : 0));
}

// Returns true if the checksum of a header without options is right. Ones' complement sums are sums
// modulo 2^16 - 1, of words of any size in any order of bytes: a right one is a multiple of that,
// and not 0, as a header is not. (It is summed word by word, as an array would go by way of the
// stack.)
inline bool sums_up(const wire::Ipv4Header& ip) {
  const auto word = [&ip](std::size_t number) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, reinterpret_cast<const std::byte*>(&ip) + number * sizeof bytes,
                sizeof bytes);
    return std::uint64_t{bytes};
  };
  auto sum = word(0) + word(1) + word(2) + word(3) + word(4);
  sum = (sum & 0xffff) + (sum >> 16);
  return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

// Returns true if the header's checksum, options included, is right. `frame.ipv4` is set.
inline bool has_right_ip_checksum(const engine::Frame& frame) {
  const auto& ip = *frame.ipv4;
  const auto bytes = ip.header_bytes();
  if (bytes == sizeof(wire::Ipv4Header)) {
    return sums_up(ip);
  }
  return wire::internet_checksum({reinterpret_cast<const std::byte*>(&ip), bytes}) == 0;
}

// Bytes behind the IP packet are Ethernet padding; more than padding is not carried along.
inline void trim(Packet& packet, const wire::Ipv4Header& ip) {
  const auto frame_bytes =
      static_cast<std::uint32_t>(sizeof(wire::EthernetHeader)) + ip.total_length.value();
  packet.length = std::min(packet.length, std::max(frame_bytes, wire::ethernet_min_frame_bytes));
}

// This is the IPv4 router of a logical switch (RFC 1812). Its interfaces are those of Interfaces
// that have an address of this version.
class Router {
 public:
  Router(const SwitchConfig& config, const Interfaces& interfaces, Neighbours& neighbours,
         Liveness& liveness, Outlet& outlet);

  // Returns the way that a packet to `destination` will take, valid until the routes or what is
  // known of next hops change. It is about to be forwarded, so its neighbour's entry is prefetched.
  [[gnu::always_inline]] const forwarding::Way& prepare(
      const wire::Ipv4Address& destination) const {
    const auto& way = routes_.way_to(destination);
    const bool direct = way.live != 1 || way.hop.via.is_unspecified();
    neighbours_.prefetch(direct ? destination : way.hop.via);
    return way;
  }
  // Takes a frame that is addressed to the switch on the link layer and is not ARP. `way` is what
  // prepare() returned for its destination, or null.
  void receive(PacketPtr packet, const engine::Frame& frame, PortIndex interface,
               const forwarding::Way* way, Time now);

  // Sends an IPv4 packet on by the way to `towards`: it looks at the TTL (of received packets), the
  // route and the MTU. Among several next hops, `path` chooses one as for a reduction; without it,
  // one is chosen as for ordinary traffic.
  void forward(PacketPtr packet, const engine::Frame& frame, const wire::Ipv4Address& towards,
               const std::optional<engine::Path>& path, Account account, Time now) {
    forward_by(routes_.way_to(towards), std::move(packet), frame, towards, path, account, now);
  }
  // Drops packets whose neighbour gave no answer, and tells their senders (RFC 1812, 5.2.7.1).
  void give_up(PacketList unresolved, Time now);
  // Sends a frame without an IP header on.
  void forward_raw(PacketPtr packet, const engine::Path& path, Account account, Time now);

  // Learns what the result of a block told of the queues on its way.
  void learn(const engine::Answer& answer);

  // Says how full the queues are by which packets of reductions have to go.
  QueuesBehind queues_behind() const;

  void set_port_up(PortIndex port, bool up) { routes_.set_interface_up(port, up); }
  // Next hops that died leave their groups, and return when they are alive again.
  void set_unhealthy(const std::vector<forwarding::UnhealthyNeighbour>& neighbours) {
    routes_.set_unhealthy(neighbours);
  }
  void reconfigure(const SwitchConfig& config);
  const forwarding::RouteTable& routes() const { return routes_; }

 private:
  void end(PacketPtr packet, const engine::Frame& frame, const forwarding::NextHopGroup* group,
           Account account, Time now);
  void deliver(PacketPtr packet, const engine::Frame& frame, Time now);
  void reject(PacketPtr packet, const engine::Frame& frame, DropReason reason,
              const IcmpError& error, Account account, Time now);
  void send_error(const Packet& packet, const engine::Frame& frame, const IcmpError& error,
                  Time now);
  wire::Ipv4Address own_address_for(const Packet& packet) const;

  void forward_by(const forwarding::Way& way, PacketPtr&& packet, const engine::Frame& frame,
                  const wire::Ipv4Address& towards, const std::optional<engine::Path>& path,
                  Account account, Time now);

  const Interfaces& interfaces_;
  Neighbours& neighbours_;
  Liveness& liveness_;
  Outlet& outlet_;
  forwarding::RouteTable routes_;
  std::vector<PortIndex> only_ways_;
  HopChooser chooser_;
  IcmpLimiter icmp_limiter_;
};

}  // namespace tributary::switching
