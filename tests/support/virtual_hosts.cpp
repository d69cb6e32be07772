// SPDX-License-Identifier: BSD-3-Clause
// The hosts of a virtual fabric do what a kernel and a driver do around a machine.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "forwarding/egress_queue.h"
#include "protocols/canary/wire.h"
#include "protocols/flare/wire.h"
#include "protocols/panama/wire.h"
#include "support/frames6.h"
#include "support/virtual_nodes.h"
#include "wire/arp.h"
#include "wire/checksum.h"
#include "wire/roce.h"
#include "wire/transport.h"

namespace tributary::test {
namespace {

void append(Packet& frame, wire::Bytes bytes) {
  std::copy(bytes.begin(), bytes.end(), frame.data() + frame.length);
  frame.length += static_cast<std::uint32_t>(bytes.size());
}

template <typename Header>
void append(Packet& frame, const Header& header) {
  append(frame, std::as_bytes(std::span(&header, 1)));
}

// The sockets of the protocols whose packets go to groups have these source ports: Flare's are as
// many as there are flows.
std::uint16_t source_port_to_group(const host::Datagram& datagram, std::uint32_t job) {
  constexpr unsigned first = 0xf000;
  if (datagram.destination.port == wire::flare_udp_port) {
    return static_cast<std::uint16_t>(first + datagram.flow % wire::flare_flows);
  }
  return wire::source_port_of(wire::panama_key(job, static_cast<std::uint16_t>(datagram.flow)));
}
std::uint8_t tos_to_group(const host::Datagram& datagram) {
  return datagram.destination.port == wire::flare_udp_port
             ? std::uint8_t{0}
             : std::uint8_t{wire::panama_dscp << 2 | wire::ecn::ect0};
}

bool is_in_vlan_of(const Dress& came, const Dress& own) {
  return came.tag.has_value() == own.tag.has_value() &&
         wire::vid_of(came.tag.value_or(0)) == wire::vid_of(own.tag.value_or(0));
}

}  // namespace

PacketPtr VirtualFabric::allocate() {
  auto packet = pool_.allocate();
  if (!packet) {
    throw std::runtime_error("the fabric's pool is empty: packets leak");
  }
  return packet;
}

void VirtualFabric::service(HostNode& node) {
  if (node.silent_until > now_) {
    return;
  }
  auto& outbox = node.outbox;
  for (auto& socket : node.sockets) {
    auto& machine = *socket.machine;
    if (machine.deadline() <= host_now()) {
      const Stopwatch time(spent_ ? &spent_->machines : nullptr);
      machine.expire(host_now());
    }
    bool more = true;
    while (more && node.line_free <= now_) {
      {
        const Stopwatch time(spent_ ? &spent_->machines : nullptr);
        machine.poll(outbox, host_now());
      }
      more = outbox.full();
      while (!outbox.empty()) {
        send(node, outbox.front(), machine, socket.port);
        outbox.pop();
      }
    }
  }
  // The callbacks may begin the next collective; nobody attaches or detaches here.
  for (auto& socket : node.sockets) {
    if (!socket.machine->running() && socket.idle) {
      socket.idle();
    }
  }
}

Time VirtualFabric::due_of(const HostNode& node) const {
  if (node.silent_until > now_) {
    return node.silent_until;
  }
  Time due = node.line_free > now_ ? node.line_free : never;
  for (const auto& socket : node.sockets) {
    // What is due already has to be sent, and waits for the line.
    const Time wanted(socket.machine->deadline().time_since_epoch());
    due = std::min(due, wanted > now_ ? wanted : std::max(wanted, node.line_free));
  }
  return due;
}

// On a bridge the hosts know each other and the switches (static ARP); else all goes to the router.
wire::MacAddress VirtualFabric::next_hop(const HostNode& node,
                                         wire::Ipv4Address destination) const {
  if (destination.is_multicast()) {
    return wire::multicast_mac(destination);
  }
  if (destination == node.spec.address) {
    return node.mac;
  }
  return node.spec.gateway == node.spec.address ? next_hop_on_bridge(node, destination)
                                                : node.gateway_mac;
}

wire::MacAddress VirtualFabric::next_hop_on_bridge(const HostNode& node,
                                                   wire::Ipv4Address destination) const {
  const auto is_near = [&](std::size_t switch_index) {
    return spec_.one_segment || switch_index == node.switch_index;
  };
  for (const auto& peer : hosts_) {
    if (is_near(peer->switch_index) && peer->spec.address == destination) {
      return peer->mac;
    }
  }
  for (const auto& bridge : switches_) {
    if (is_near(bridge->index) && bridge->config.address == destination) {
      return bridge_mac_of(bridge->config);
    }
  }
  return node.gateway_mac;
}

void VirtualFabric::send(HostNode& node, const host::Datagram& datagram, const Machine& machine,
                         std::uint16_t udp_port) {
  auto frame = allocate();
  const auto bytes = datagram.header_bytes + datagram.payload.size() + datagram.trailer_bytes;
  if (machine.job().encapsulation == wire::Encapsulation::ethernet) {
    append(*frame, wire::EthernetHeader{wire::canary_group_mac, node.mac,
                                        wire::be16{wire::ethertype::canary}});
  } else {
    const auto udp_bytes = static_cast<std::uint16_t>(sizeof(wire::UdpHeader) + bytes);
    const bool group = datagram.destination.address.is_multicast();
    const auto source_port = group ? source_port_to_group(datagram, machine.job().id) : udp_port;
    wire::Ipv4Header ip;
    ip.total_length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
    // The flag is that of a socket that must not fragment.
    ip.fragment =
        udp_port == wire::roce_udp_port ? wire::Ipv4Header::dont_fragment : std::uint16_t{0};
    ip.protocol = wire::ip_protocol::udp;
    ip.tos = group ? tos_to_group(datagram) : wire::ecn::ect0;
    ip.source = node.spec.address;
    ip.destination = datagram.destination.address;
    wire::finish_ipv4(ip);
    append(*frame, wire::EthernetHeader{next_hop(node, datagram.destination.address), node.mac,
                                        wire::be16{wire::ethertype::ipv4}});
    append(*frame, ip);
    append(*frame, wire::UdpHeader{wire::be16{source_port}, wire::be16{datagram.destination.port},
                                   wire::be16{udp_bytes}, wire::be16{}});
  }
  append(*frame, datagram.header());
  append(*frame, datagram.payload);
  append(*frame, datagram.trailer());
  put_on(*frame, node.spec.dress);
  // A datagram for the host itself never leaves it.
  if (datagram.destination.address == node.spec.address &&
      machine.job().encapsulation == wire::Encapsulation::udp) {
    put_on_cable(std::move(frame), switches_.size() + node.index, 0, Duration{});
  } else {
    const auto delay = occupy_line(node.line_free, node.spec.rate_bps, frame->length);
    launch(std::move(frame), node.switch_index, node.port, delay);
  }
}

// Returns how long it takes until a frame has left, behind those that are still to leave.
Duration VirtualFabric::occupy_line(Time& line_free, std::uint64_t rate_bps,
                                    std::size_t frame_bytes) const {
  if (rate_bps == 0) {
    return {};
  }
  const auto on_line = forwarding::line_bytes(frame_bytes) * 8 * 1'000'000'000 / rate_bps;
  line_free = std::max(line_free, now_) + Duration(static_cast<Duration::rep>(on_line));
  return line_free - now_;
}

void VirtualFabric::inject(std::size_t host, PacketPtr frame) {
  const auto& node = *hosts_[host];
  auto* ethernet = wire::MutableCursor(frame->bytes()).take<wire::EthernetHeader>();
  ethernet->destination = node.gateway_mac;
  ethernet->source = node.mac;
  launch(std::move(frame), node.switch_index, node.port);
}

void VirtualFabric::answer_arp(const HostNode& node, wire::MutableCursor cursor) {
  const auto* request = cursor.take<wire::ArpHeader>();
  if (request == nullptr || request->operation.value() != wire::ArpHeader::request ||
      request->target_address != node.spec.address) {
    return;
  }
  auto found = allocate();
  append(*found,
         wire::EthernetHeader{request->sender_mac, node.mac, wire::be16{wire::ethertype::arp}});
  wire::ArpHeader arp;
  arp.operation = wire::ArpHeader::reply;
  arp.sender_mac = node.mac;
  arp.sender_address = node.spec.address;
  arp.target_mac = request->sender_mac;
  arp.target_address = request->sender_address;
  append(*found, arp);
  answer(node, std::move(found));
}

void VirtualFabric::answer_solicitation(const HostNode& node, Packet& frame) {
  wire::MutableCursor cursor(frame.bytes());
  const auto* ethernet = cursor.take<wire::EthernetHeader>();
  const auto* ip = cursor.take<wire::Ipv6Header>();
  const bool is_whole = ip != nullptr && ip->payload_length.value() <= cursor.rest().size() &&
                        ip->next_header == wire::ipv6_next::icmp;
  const auto* asked = cursor.take<wire::NeighbourMessage>();
  const auto own = node.spec.dress.prefix->embed(node.spec.address);
  if (!is_whole || asked == nullptr ||
      asked->icmp.type != wire::Icmp6Header::neighbour_solicitation ||
      wire::IpAddress(asked->target) != own || !has_right_icmp6_checksum(frame)) {
    return;
  }
  answer(node,
         make_advertisement(pool_, {node.mac, ethernet->source, own, wire::IpAddress(ip->source)}));
}

void VirtualFabric::answer(const HostNode& node, PacketPtr frame) {
  put_on(*frame, node.spec.dress);
  launch(std::move(frame), node.switch_index, node.port);
}

void VirtualFabric::hand_over(Machine& machine, const host::Arrival& arrival) const {
  const Stopwatch time(spent_ ? &spent_->machines : nullptr);
  machine.receive({&arrival, 1}, host_now());
}

void VirtualFabric::deliver_to_host(HostNode& node, Packet& frame) {
  const auto dress = take_off(frame);
  const auto& own = node.spec.dress;
  wire::MutableCursor cursor(frame.bytes());
  const auto* ethernet = cursor.take<wire::EthernetHeader>();
  if (ethernet == nullptr || !is_in_vlan_of(dress, own)) {
    return;
  }
  const auto type = ethernet->type.value();
  if (type == wire::ethertype::arp && !own.prefix) {
    return answer_arp(node, cursor);
  }
  if (type == wire::ethertype::ipv6 && own.prefix) {
    return answer_solicitation(node, frame);
  }
  const bool multicast = ethernet->destination.is_group();
  if ((ethernet->destination != node.mac && !multicast) || node.deaf_until > now_) {
    return;
  }
  if (type == wire::ethertype::canary) {
    for (auto& socket : node.sockets) {
      if (socket.machine->job().encapsulation == wire::Encapsulation::ethernet) {
        hand_over(*socket.machine, {cursor.rest()});
      }
    }
    return;
  }
  const auto* ip = cursor.take<wire::Ipv4Header>();
  const auto* udp = cursor.take<wire::UdpHeader>();
  if (udp == nullptr || type != wire::ethertype::ipv4 || dress.prefix != own.prefix ||
      (ip->destination != node.spec.address && !(multicast && ip->destination.is_multicast())) ||
      wire::internet_checksum(std::as_bytes(std::span(ip, 1))) != 0 ||
      udp->length.value() < sizeof *udp ||
      udp->length.value() - sizeof *udp > cursor.rest().size()) {
    return;
  }
  for (auto& socket : node.sockets) {
    if (socket.port == udp->destination_port.value() &&
        socket.machine->job().encapsulation == wire::Encapsulation::udp) {
      hand_over(*socket.machine, {cursor.rest().first(udp->length.value() - sizeof *udp),
                                  static_cast<std::uint8_t>(ip->tos & wire::ecn::mask),
                                  {ip->source, udp->source_port.value(), dress.prefix}});
    }
  }
}

}  // namespace tributary::test
