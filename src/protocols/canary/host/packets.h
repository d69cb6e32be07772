// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "host/job.h"
#include "host/outbox.h"
#include "protocols/canary/host/blocks.h"
#include "protocols/canary/wire.h"
#include "wire/spread.h"

namespace tributary::host {

// This is a packet in the making: what it says may still change, until it is sealed and sent.
struct CanaryPacket {
  Endpoint destination;
  wire::CanaryHeader header;
  wire::Bytes payload;

  // Precondition: the outbox is not full.
  void send(Outbox& outbox) const {
    outbox.push(destination, header, payload, wire::flow_of(header.key()));
  }
};

// Tells where an answer goes: to a child (result, release), or to a switch that had a collision,
// with what it needs to reach the child that it could not record (restoration). Replies are
// compared as bytes.
struct [[gnu::packed]] Reply {
  wire::CanaryKind kind = wire::CanaryKind::result;
  std::uint8_t shard = 0;
  wire::Ipv4Address destination;
  wire::be16 port;
  wire::Ipv4Address child_address;
  wire::be16 child_port;
  wire::be32 children;
  wire::be16 switch_address;
  wire::MacAddress child_mac;
};

// Returns whether a worker contributes for the leader alone; the bypass bit then tells of no
// collision.
inline bool is_direct(const wire::CanaryHeader& contribution) {
  return wire::canary_attempt(contribution.id.value()) == wire::canary_direct_attempt;
}

// Returns where the answer to whoever sent this contribution goes.
Reply reply_to(const wire::CanaryHeader& contribution);
Reply reply_to(const Endpoint& worker);

// Returns the bytes of a packet's headers, from the IP header on, or behind that of Ethernet.
std::uint32_t headers_bytes_of(wire::Encapsulation encapsulation);

// Returns the header of a packet of `id`, without elements; the caller sets what differs and seals
// it.
wire::CanaryHeader header_of(const Job& job, const Blocks& blocks, std::uint32_t id);

// Returns whether a packet says the same about its block as this rank does.
bool agrees(const wire::CanaryHeader& header, const Job& job, const Blocks& blocks,
            std::size_t payload_bytes);

// Returns the fingerprint of a sum under `id` to which all ranks contributed once, and which this
// rank's handler combined, if one did.
std::uint64_t total_tag(const Job& job, const Blocks& blocks, std::uint32_t id);

// This is what becomes of a block.
struct Sum {
  wire::Bytes payload;
  std::uint64_t fingerprint = 0;  // the total_tag() of its id
  // This rank is named in what was asked for, which does not come down the tree.
  std::uint32_t rank = wire::CanaryHeader::no_rank;
  bool congested = false;  // a queue on the way of a contribution was
};
// Makes a result or restoration.
CanaryPacket answer(const Job& job, const Blocks& blocks, std::uint32_t id, const Reply& reply,
                    const Sum& sum);
// Makes what tells a switch that sent a contribution to `id` that its result will not come.
CanaryPacket release(const Job& job, const Blocks& blocks, std::uint32_t id, const Reply& reply);
// Makes a request, failure or pending to another rank, which can check that this rank made it. It
// is not sealed.
CanaryPacket control(const Job& job, const Blocks& blocks, wire::CanaryKind kind, std::uint32_t id,
                     std::uint32_t to);
// Returns whether the rank that the packet names made it, in the call of this key.
bool is_authentic(const wire::CanaryHeader& header, const Job& job, const JobKey& key);
// Returns the same for a contribution that nobody has added to yet.
bool is_authentic_contribution(const wire::CanaryHeader& header, const Job& job, const JobKey& key);

}  // namespace tributary::host
