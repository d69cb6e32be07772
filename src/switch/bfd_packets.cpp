// SPDX-License-Identifier: BSD-3-Clause
#include "switch/bfd_packets.h"

#include "wire/checksum.h"

namespace tributary::switching {
namespace {

constexpr std::uint8_t network_control = 0xc0;  // class selector 6: it keeps the network running
constexpr std::uint16_t udp_bytes = sizeof(wire::UdpHeader) + sizeof(wire::BfdHeader);

template <typename IpHeader>
struct [[gnu::packed]] BfdFrame {
  wire::EthernetHeader ethernet;
  IpHeader ip;
  wire::UdpHeader udp;
  wire::BfdHeader bfd;
};

// Both return the EtherType of what they filled in.
std::uint16_t fill_in(wire::Ipv4Header& ip, const BfdPath& path) {
  ip.tos = network_control;
  ip.total_length = static_cast<std::uint16_t>(sizeof ip + udp_bytes);
  ip.ttl = wire::bfd_ttl;
  ip.protocol = wire::ip_protocol::udp;
  ip.source = path.source.v4();
  ip.destination = path.destination.v4();
  wire::finish_ipv4(ip);
  return wire::ethertype::ipv4;
}
std::uint16_t fill_in(wire::Ipv6Header& ip, const BfdPath& path) {
  ip.version_class_flow[0] |= network_control >> 4;  // the traffic class follows four bits
  ip.payload_length = udp_bytes;
  ip.next_header = wire::ip_protocol::udp;
  ip.hop_limit = wire::bfd_ttl;
  ip.source = path.source.octets();
  ip.destination = path.destination.octets();
  return wire::ethertype::ipv6;
}

template <typename IpHeader>
bool write(Packet& packet, const BfdPath& path, const wire::BfdHeader& header) {
  using Frame = BfdFrame<IpHeader>;
  if (packet.tailroom() < sizeof(Frame)) {
    return false;
  }
  packet.length = sizeof(Frame);
  auto& frame = *wire::MutableCursor(packet.bytes()).take<Frame>();
  frame = {};
  frame.ethernet.type = fill_in(frame.ip, path);
  frame.udp.source_port = path.source_port;
  frame.udp.destination_port = wire::bfd_port;
  frame.udp.length = udp_bytes;
  frame.bfd = header;
  const auto sum = wire::transport_checksum(frame.ip, packet.bytes().last(udp_bytes));
  frame.udp.checksum = sum != 0 ? sum : std::uint16_t{0xffff};
  return true;
}

// Returns null if it is another protocol, or behind extension headers.
const wire::UdpHeader* udp_of(const Datagram6& datagram) {
  return datagram.ip->next_header == wire::ip_protocol::udp
             ? wire::Cursor(datagram.payload).take<wire::UdpHeader>()
             : nullptr;
}

bool has_right_checksum(const engine::Frame& frame) {
  const auto* start = reinterpret_cast<const std::byte*>(frame.udp);
  return frame.udp->checksum.value() == 0 ||
         wire::transport_checksum(*frame.ipv4, {start, frame.udp->length.value()}) == 0;
}

}  // namespace

bool is_bfd(const engine::Frame& frame) {
  return frame.udp != nullptr && frame.udp->destination_port.value() == wire::bfd_port;
}

bool is_bfd(const Datagram6& datagram) {
  const auto* udp = udp_of(datagram);
  return udp != nullptr && udp->destination_port.value() == wire::bfd_port;
}

BfdArrival bfd_of(const engine::Frame& frame) {
  return {frame.ipv4->source, frame.ipv4->ttl,
          has_right_checksum(frame) ? wire::parse_bfd(frame.payload) : nullptr};
}

BfdArrival bfd_of(const Datagram6& datagram) {
  BfdArrival arrival{datagram.source, datagram.ip->hop_limit};
  const auto* udp = udp_of(datagram);
  const std::size_t bytes = udp->length.value();
  if (bytes < sizeof *udp || bytes > datagram.payload.size() || udp->checksum.value() == 0) {
    return arrival;
  }
  const wire::Bytes whole = datagram.payload.first(bytes);
  if (wire::transport_checksum(*datagram.ip, whole) == 0) {
    arrival.header = wire::parse_bfd(whole.subspan(sizeof *udp));
  }
  return arrival;
}

bool make_bfd(Packet& packet, const BfdPath& path, const wire::BfdHeader& header) {
  return path.destination.is_v4() ? write<wire::Ipv4Header>(packet, path, header)
                                  : write<wire::Ipv6Header>(packet, path, header);
}

}  // namespace tributary::switching
