// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/traffic/frames.h"

#include <algorithm>
#include <cstring>

#include "packet/translation.h"
#include "wire/checksum.h"
#include "wire/key.h"
#include "wire/transport.h"

namespace tributary::netreduce {
namespace {

using wire::RoceOpcode;

RoceOpcode opcode_of(std::uint32_t offset, std::uint32_t packets) {
  if (packets == 1) {
    return RoceOpcode::write_only_immediate;
  }
  return offset == 0             ? RoceOpcode::write_first
         : offset + 1 == packets ? RoceOpcode::write_last_immediate
                                 : RoceOpcode::write_middle;
}

// Returns the bytes of the payload in front of the elements.
std::size_t header_bytes(const NetReducePlace& place) {
  return place.offset == 0 ? sizeof(wire::InaHeader) : 0;
}

constexpr std::uint64_t receive_memory = 0x7f0000000000;

}  // namespace

template <typename Header>
void NetReduceFrames::Head::append(const Header& header) {
  std::memcpy(bytes.data() + size, &header, sizeof header);
  size += sizeof header;
}

NetReduceFrames::NetReduceFrames(const TrafficPlan& plan, const traffic::Ranks& ranks,
                                 const traffic::Neighbours& neighbours, std::uint32_t job)
    : ranks_(ranks),
      neighbours_(neighbours),
      prefix_(neighbours.stations().range(0).prefix),
      ring_(plan.first_ring + job),
      job_(job),
      kind_(plan.kinds[job % plan.kinds.size()]),
      window_(plan.window),
      message_packets_(plan.message_packets),
      path_mtu_(plan.path_mtu) {}

std::uint32_t NetReduceFrames::icrc_of(const wire::Ipv4Header& ip, const wire::UdpHeader& udp,
                                       wire::Bytes covered) const {
  if (!prefix_) {
    return wire::icrc_of(std::as_bytes(std::span(&ip, 1)), udp, covered);
  }
  const auto ip6 = ipv6_header_of(ip, *prefix_);
  return wire::icrc_of(std::as_bytes(std::span(&ip6, 1)), udp, covered);
}

std::uint32_t NetReduceFrames::psn(std::uint32_t rank, std::uint64_t sequence) const {
  const auto first = wire::mix_key(ring_, rank) & wire::psn_mask;
  return static_cast<std::uint32_t>((first + sequence) & wire::psn_mask);
}

std::uint16_t NetReduceFrames::source_port(std::uint32_t rank) const {
  return wire::source_port_of(wire::mix_key(ring_, rank));
}

std::uint64_t NetReduceFrames::key(const NetReducePlace& place) const {
  return wire::mix_key((std::uint64_t{place.run} << 32) | place.message,
                       (std::uint64_t{ring_} << 32) | place.offset);
}

NetReduceFrames::Head NetReduceFrames::head(const NetReducePlace& place, std::uint32_t rank) const {
  const auto packets = packets_of(place);
  const auto opcode = opcode_of(place.offset, packets);
  const auto message_bytes = packets * path_mtu_;
  Head head;
  wire::BthHeader bth;
  bth.opcode = opcode;
  bth.destination_qp = queue_pair(job_);
  bth.acknowledge =
      wire::ends_message(wire::position_of(opcode)) ? wire::BthHeader::acknowledge_bit : 0;
  bth.psn = psn(rank, place.sequence);
  head.append(bth);
  if (wire::has_reth(opcode)) {
    wire::RethHeader reth;
    const auto slot = place.message % (2 * window_);
    reth.address = receive_memory + std::uint64_t{slot} * message_packets_ * path_mtu_;
    reth.key = ring_;
    reth.length = message_bytes;
    head.append(reth);
  }
  if (wire::has_immediate(opcode)) {
    head.append(wire::ImmediateHeader{wire::be32(place.message)});
  }
  if (place.offset == 0) {
    wire::InaHeader ina;
    ina.tag = wire::InaHeader::current_tag;
    ina.ring = ring_;
    ina.message = place.message;
    ina.length = message_bytes;
    ina.run = place.run;
    ina.packets = static_cast<std::uint16_t>(packets);
    ina.rank = static_cast<std::uint16_t>(rank);
    ina.world = static_cast<std::uint16_t>(ranks_.count());
    ina.element_type = kind_.type;
    ina.op = kind_.op;
    head.append(ina);
  }
  return head;
}

void NetReduceFrames::gradient(Packet& packet, const NetReducePlace& place, std::uint32_t rank,
                               const traffic::BlockValues& values) const {
  const auto& self = ranks_[rank];
  const auto& next = ranks_[(rank + 1) % ranks_.count()];
  const auto head = this->head(place, rank);
  const auto skipped = header_bytes(place);
  const auto roce_bytes = head.size + path_mtu_ - skipped + wire::icrc_bytes;
  const auto udp_bytes = sizeof(wire::UdpHeader) + roce_bytes;
  auto* ethernet = new (packet.data()) wire::EthernetHeader;
  ethernet->destination = neighbours_.next_hop(self.port, next.mac);
  ethernet->source = self.mac;
  ethernet->type = wire::ethertype::ipv4;
  auto* ip = new (ethernet + 1) wire::Ipv4Header;
  ip->total_length = static_cast<std::uint16_t>(sizeof *ip + udp_bytes);
  ip->fragment = wire::Ipv4Header::dont_fragment;
  ip->protocol = wire::ip_protocol::udp;
  ip->source = self.address;
  ip->destination = next.address;
  wire::finish_ipv4(*ip);
  auto* udp = new (ip + 1) wire::UdpHeader;
  udp->source_port = source_port(rank);
  udp->destination_port = wire::roce_udp_port;
  udp->length = static_cast<std::uint16_t>(udp_bytes);
  auto* at = reinterpret_cast<std::byte*>(udp + 1);
  std::memcpy(at, head.bytes.data(), head.size);
  const auto shift = static_cast<std::uint32_t>(key(place) % traffic::BlockValues::shifts);
  const auto part = values.part(rank, shift).subspan(skipped);
  auto* end = std::copy(part.begin(), part.end(), at + head.size);
  // There may be room for a part of another element.
  std::fill(end, at + roce_bytes - wire::icrc_bytes, std::byte{0});
  wire::store_fingerprint({at, roce_bytes - wire::icrc_bytes}, traffic::rank_tag(key(place), rank));
  auto* icrc = at + roce_bytes - wire::icrc_bytes;
  wire::store_icrc(icrc, icrc_of(*ip, *udp, {at, roce_bytes - wire::icrc_bytes}));
  packet.length = static_cast<std::uint32_t>(sizeof *ethernet + sizeof *ip + udp_bytes);
}

bool NetReduceFrames::is_result(const engine::Frame& frame, const NetReducePlace& place,
                                std::uint32_t rank, const traffic::BlockValues& values) const {
  const auto& ip = *frame.ipv4;
  const auto& udp = *frame.udp;
  const auto head = this->head(place, rank);
  const auto skipped = header_bytes(place);
  const auto roce = wire::Bytes(frame.payload);
  const bool has_headers = roce.size() == head.size + path_mtu_ - skipped + wire::icrc_bytes &&
                           ip.source == ranks_[rank].address && ip.identification.value() == 0 &&
                           ip.fragment.value() == wire::Ipv4Header::dont_fragment &&
                           udp.source_port.value() == source_port(rank) &&
                           udp.checksum.value() == 0 &&
                           std::memcmp(roce.data(), head.bytes.data(), head.size) == 0;
  if (!has_headers) {
    return false;
  }
  const auto shift = static_cast<std::uint32_t>(key(place) % traffic::BlockValues::shifts);
  const auto sum = values.sum(shift).subspan(skipped);
  const auto covered = roce.first(roce.size() - wire::icrc_bytes);
  return std::memcmp(roce.data() + head.size, sum.data(), sum.size()) == 0 &&
         wire::load_fingerprint(covered) == traffic::total_tag(key(place), ranks_.count()) &&
         wire::load_icrc(roce.data() + covered.size()) == icrc_of(ip, udp, covered);
}

}  // namespace tributary::netreduce
