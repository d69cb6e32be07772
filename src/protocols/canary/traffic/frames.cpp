// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/traffic/frames.h"

#include <cstring>

#include "wire/crc32.h"

namespace tributary::canary {
namespace {

using wire::CanaryHeader;
using wire::CanaryKind;

constexpr std::uint8_t downwards = CanaryHeader::current_version | CanaryHeader::multicast_bit;

// Returns the checksum of a header that differs from a new one in length, protocol and addresses:
// the sum of ten words of which six are known.
std::uint16_t checksum_of(const wire::Ipv4Header& ip) {
  constexpr std::uint32_t known =
      0x4500 + wire::Ipv4Header::dont_fragment + (64u << 8) + wire::ip_protocol::udp;
  const auto source = ip.source.value();
  const auto destination = ip.destination.value();
  std::uint32_t sum = known + ip.total_length.value() + (source >> 16) + (source & 0xffff) +
                      (destination >> 16) + (destination & 0xffff);
  sum = (sum & 0xffff) + (sum >> 16);
  sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

// Clears what only collisions and requests have.
void clear_extras(CanaryHeader& header) {
  header.children = 0;
  header.switch_address = 0;
  header.shard = 0;
  header.switch_ipv4 = {};
  header.child_mac = {};
}

}  // namespace

CanaryFrames::CanaryFrames(wire::Encapsulation encapsulation, const traffic::Ranks& ranks)
    : encapsulation_(encapsulation),
      ranks_(ranks),
      header_offset_(sizeof(wire::EthernetHeader) +
                     (encapsulation == wire::Encapsulation::udp
                          ? sizeof(wire::Ipv4Header) + sizeof(wire::UdpHeader)
                          : 0)) {}

CanaryFrame CanaryFrames::at(Packet& packet) const {
  CanaryFrame frame;
  auto* start = packet.data();
  frame.ethernet = reinterpret_cast<wire::EthernetHeader*>(start);
  if (encapsulation_ == wire::Encapsulation::udp) {
    frame.ip = reinterpret_cast<wire::Ipv4Header*>(frame.ethernet + 1);
    frame.udp = reinterpret_cast<wire::UdpHeader*>(frame.ip + 1);
  }
  frame.header = reinterpret_cast<CanaryHeader*>(start + header_offset_);
  frame.payload = start + header_offset_ + sizeof(CanaryHeader);
  return frame;
}

// Writes everything in front of the Canary header but the MAC addresses; `id` and `job` of the
// header are set.
void CanaryFrames::address(Packet& packet, wire::Ipv4Address source, wire::Ipv4Address destination,
                           std::uint16_t port, std::size_t payload_bytes) const {
  packet.length = frame_bytes(payload_bytes);
  const auto frame = at(packet);
  if (encapsulation_ == wire::Encapsulation::ethernet) {
    frame.ethernet->type = wire::ethertype::canary;
    return;
  }
  frame.ethernet->type = wire::ethertype::ipv4;
  auto& ip = *new (frame.ip) wire::Ipv4Header{};
  const auto ip_bytes = packet.length - sizeof(wire::EthernetHeader);
  ip.total_length = static_cast<std::uint16_t>(ip_bytes);
  ip.fragment = wire::Ipv4Header::dont_fragment;
  ip.protocol = wire::ip_protocol::udp;
  ip.source = source;
  ip.destination = destination;
  ip.checksum = checksum_of(ip);
  frame.udp->source_port = wire::source_port_of(frame.header->key());
  frame.udp->destination_port = port;
  frame.udp->length = static_cast<std::uint16_t>(ip_bytes - sizeof(wire::Ipv4Header));
  frame.udp->checksum = 0;
}

void CanaryFrames::contribution(Packet& packet, const CanaryBlock& block, std::uint32_t rank,
                                wire::Bytes part, std::uint32_t part_crc) const {
  const auto& [job, id, next_hop] = block;
  const auto frame = at(packet);
  const auto& self = ranks_[rank];
  const auto& leader = ranks_[leader_of(ranks_, wire::canary_sequence(id))];
  auto& header = *new (frame.header) CanaryHeader{};
  header.destination = leader.address;
  header.id = id;
  header.counter = 1;
  header.hosts = job.hosts;
  header.flags = CanaryHeader::current_version;
  header.element_type = job.type;
  header.op = job.op;
  header.job = job.id;
  header.elements = job.elements;
  header.child_port = encapsulation_ == wire::Encapsulation::udp ? udp_port : std::uint16_t{0};
  header.fingerprint = traffic::rank_tag(header.key(), rank);
  header.child_address = self.address;
  header.rank = static_cast<std::uint16_t>(rank);
  address(packet, self.address, leader.address, udp_port, part.size());
  const bool raw = encapsulation_ == wire::Encapsulation::ethernet;
  frame.ethernet->destination = raw ? wire::canary_group_mac : next_hop;
  frame.ethernet->source = self.mac;
  std::memcpy(frame.payload, part.data(), part.size());
  header.payload_crc = part_crc;
  wire::reseal(header);
}

void CanaryFrames::answer(Packet& contribution, const CanaryJob& job, std::uint64_t fingerprint,
                          std::uint32_t sum_crc, bool congested) const {
  const auto frame = at(contribution);
  auto& header = *frame.header;
  const auto& leader = ranks_[leader_of(ranks_, wire::canary_sequence(header.id.value()))];
  const bool collided = header.bypass();
  const auto destination = collided ? header.switch_ipv4 : header.child_address;
  const auto port = collided ? udp_port : header.child_port.value();
  if (!collided) {
    clear_extras(header);
    header.child_address = destination;
  }
  header.destination = destination;
  header.counter = job.hosts;
  header.flags = congested ? downwards | CanaryHeader::congested_bit : downwards;
  header.kind = collided ? CanaryKind::restoration : CanaryKind::result;
  header.fingerprint = fingerprint;
  header.rank = CanaryHeader::no_rank;
  frame.ethernet->destination = frame.ethernet->source;
  frame.ethernet->source = leader.mac;
  const auto payload_bytes = job.elements * wire::element_bytes(job.type);
  address(contribution, leader.address, destination, port, payload_bytes);
  header.payload_crc = sum_crc;
  wire::reseal(header);
}

void CanaryFrames::release(Packet& contribution) const {
  const auto frame = at(contribution);
  auto& header = *frame.header;
  const auto& leader = ranks_[leader_of(ranks_, wire::canary_sequence(header.id.value()))];
  clear_extras(header);
  header.destination = header.child_address;
  header.counter = 0;
  header.flags = downwards;
  header.kind = CanaryKind::release;
  header.elements = 0;
  header.fingerprint = 0;
  header.rank = CanaryHeader::no_rank;
  frame.ethernet->destination = frame.ethernet->source;
  frame.ethernet->source = leader.mac;
  address(contribution, leader.address, header.destination, header.child_port.value(), 0);
  wire::seal(header, {});
}

bool CanaryFrames::is_result(const CanaryHeader& header, const CanaryJob& job,
                             std::uint64_t fingerprint, std::uint32_t sum_crc) const {
  return header.kind == CanaryKind::result &&
         (header.flags & ~CanaryHeader::congested_bit) == downwards &&
         header.counter.value() == job.hosts && header.hosts.value() == job.hosts &&
         header.element_type == job.type && header.op == job.op && header.unused == 0 &&
         header.elements.value() == job.elements && header.fingerprint.value() == fingerprint &&
         header.payload_crc.value() == sum_crc &&
         header.crc.value() == wire::crc32(0, wire::sealed_part(header));
}

void CanaryFrames::result(Packet& packet, const CanaryBlock& block, wire::Ipv4Address destination,
                          wire::Bytes sum) const {
  const auto& [job, id, next_hop] = block;
  const auto frame = at(packet);
  const auto& leader = ranks_[leader_of(ranks_, wire::canary_sequence(id))];
  auto& header = *new (frame.header) CanaryHeader{};
  header.destination = destination;
  header.id = id;
  header.counter = job.hosts;
  header.hosts = job.hosts;
  header.flags = downwards;
  header.kind = CanaryKind::result;
  header.element_type = job.type;
  header.op = job.op;
  header.job = job.id;
  header.elements = job.elements;
  header.fingerprint = traffic::total_tag(header.key(), job.hosts);
  header.child_address = destination;
  header.rank = CanaryHeader::no_rank;
  address(packet, leader.address, destination, udp_port, sum.size());
  const bool raw = encapsulation_ == wire::Encapsulation::ethernet;
  frame.ethernet->destination = raw ? wire::canary_group_mac : next_hop;
  frame.ethernet->source = leader.mac;
  std::memcpy(frame.payload, sum.data(), sum.size());
  wire::seal(header, sum);
}

}  // namespace tributary::canary
