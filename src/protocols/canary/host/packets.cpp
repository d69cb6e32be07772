// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/packets.h"

#include "host/payload.h"
#include "host/tags.h"
#include "protocols/canary/host/tags.h"

namespace tributary::host {
namespace {

bool is_of_another_rank(const wire::CanaryHeader& header, const Job& job) {
  return header.rank.value() < job.world_size() && header.rank.value() != job.rank;
}

}  // namespace

std::uint32_t headers_bytes_of(wire::Encapsulation encapsulation) {
  const bool udp = encapsulation == wire::Encapsulation::udp;
  return (udp ? udp_headers_bytes : 0u) + static_cast<std::uint32_t>(sizeof(wire::CanaryHeader));
}

Reply reply_to(const wire::CanaryHeader& contribution) {
  Reply reply;
  reply.child_address = contribution.child_address;
  reply.child_port = contribution.child_port;
  if (!contribution.bypass() || is_direct(contribution)) {
    reply.destination = contribution.child_address;
    reply.port = contribution.child_port;
    return reply;
  }
  reply.kind = wire::CanaryKind::restoration;
  reply.destination = contribution.switch_ipv4;
  reply.port = wire::canary_udp_port_first;  // a switch takes any port of the range
  reply.shard = contribution.shard;
  reply.children = contribution.children;
  reply.switch_address = contribution.switch_address;
  reply.child_mac = contribution.child_mac;
  return reply;
}

Reply reply_to(const Endpoint& worker) {
  Reply reply;
  reply.destination = reply.child_address = worker.address;
  reply.port = reply.child_port = worker.port;
  return reply;
}

wire::CanaryHeader header_of(const Job& job, const Blocks& blocks, std::uint32_t id) {
  wire::CanaryHeader header;
  header.id = id;
  header.hosts = static_cast<std::uint16_t>(job.world_size());
  header.flags = wire::CanaryHeader::current_version;
  header.element_type = blocks.type();
  header.op = blocks.op();
  header.job = job.id;
  header.child_address = job.self().address;
  header.child_port = job.self().port;
  header.rank = wire::CanaryHeader::no_rank;
  return header;
}

bool agrees(const wire::CanaryHeader& header, const Job& job, const Blocks& blocks,
            std::size_t payload_bytes) {
  return header.hosts.value() == job.world_size() && header.element_type == blocks.type() &&
         header.op == blocks.op() && header.elements.value() == blocks.elements(payload_bytes);
}

std::uint64_t total_tag(const Job& job, const Blocks& blocks, std::uint32_t id) {
  return tags_of_all(blocks.key(), id, job.world_size()) +
         (job.world_size() - 1) * blocks.mark(blocks.block_of(id));
}

CanaryPacket answer(const Job& job, const Blocks& blocks, std::uint32_t id, const Reply& reply,
                    const Sum& sum) {
  CanaryPacket packet{Endpoint{reply.destination, reply.port.value()}, header_of(job, blocks, id),
                      sum.payload};
  auto& header = packet.header;
  header.destination = reply.destination;
  header.counter = header.hosts;
  header.kind = reply.kind;
  header.flags |= wire::CanaryHeader::multicast_bit;
  header.elements = blocks.elements(sum.payload.size());
  header.fingerprint = sum.fingerprint;
  header.rank = static_cast<std::uint16_t>(sum.rank);
  if (sum.congested) {
    header.flags |= wire::CanaryHeader::congested_bit;
  }
  if (reply.kind == wire::CanaryKind::restoration) {
    header.child_address = reply.child_address;
    header.child_port = reply.child_port;
    header.children = reply.children;
    header.shard = reply.shard;
    header.switch_address = reply.switch_address;
    header.switch_ipv4 = reply.destination;
    header.child_mac = reply.child_mac;
  }
  seal(header, sum.payload);
  return packet;
}

// The child is the switch that has the descriptor, also when its sum met a collision later.
CanaryPacket release(const Job& job, const Blocks& blocks, std::uint32_t id, const Reply& reply) {
  CanaryPacket packet{
      Endpoint{reply.child_address, reply.child_port.value()}, header_of(job, blocks, id), {}};
  auto& header = packet.header;
  header.destination = reply.child_address;
  header.kind = wire::CanaryKind::release;
  header.flags |= wire::CanaryHeader::multicast_bit;
  seal(header, {});
  return packet;
}

CanaryPacket control(const Job& job, const Blocks& blocks, wire::CanaryKind kind, std::uint32_t id,
                     std::uint32_t to) {
  CanaryPacket packet{job.peers[to], header_of(job, blocks, id), {}};
  auto& header = packet.header;
  header.destination = job.peers[to].address;
  header.kind = kind;
  header.rank = static_cast<std::uint16_t>(job.rank);
  header.fingerprint = control_tag(blocks.key(), kind, id, job.rank);
  return packet;
}

bool is_authentic(const wire::CanaryHeader& header, const Job& job, const JobKey& key) {
  return is_of_another_rank(header, job) &&
         header.fingerprint.value() ==
             control_tag(key, header.kind, header.id.value(), header.rank.value());
}

bool is_authentic_contribution(const wire::CanaryHeader& header, const Job& job,
                               const JobKey& key) {
  return header.counter.value() == 1 && is_of_another_rank(header, job) &&
         header.fingerprint.value() == tag_of(key, header.id.value(), header.rank.value());
}

}  // namespace tributary::host
