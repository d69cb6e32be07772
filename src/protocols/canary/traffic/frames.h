// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "packet/packet.h"
#include "protocols/canary/wire.h"
#include "traffic/ranks.h"
#include "wire/cursor.h"
#include "wire/element.h"
#include "wire/ethernet.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::canary {

// The packets of one job have this in common.
struct CanaryJob {
  std::uint32_t id = 0;
  wire::ElementType type = wire::ElementType::f32;
  wire::Operator op = wire::Operator::sum;
  std::uint16_t elements = 0;
  std::uint16_t hosts = 0;

  std::uint64_t key(std::uint32_t block_id) const { return (std::uint64_t{id} << 32) | block_id; }
};

// This is one block, and the first hop of what is sent for it; directly over Ethernet that does not
// matter.
struct CanaryBlock {
  const CanaryJob& job;
  std::uint32_t id;
  wire::MacAddress next_hop;
};

// Chooses the leader as the hosts' library does.
inline std::uint32_t leader_of(const traffic::Ranks& ranks, std::uint32_t sequence) {
  return sequence % ranks.count();
}

// These are the headers of a Canary frame without IP options. They point into the packet.
struct CanaryFrame {
  wire::EthernetHeader* ethernet = nullptr;
  wire::Ipv4Header* ip = nullptr;  // null directly over Ethernet
  wire::UdpHeader* udp = nullptr;  // null directly over Ethernet
  wire::CanaryHeader* header = nullptr;
  std::byte* payload = nullptr;
};

// Writes and rewrites Canary frames of one length and encapsulation.
class CanaryFrames {
 public:
  static constexpr std::uint16_t udp_port = wire::canary_udp_port_first;  // of every worker

  CanaryFrames(wire::Encapsulation encapsulation, const traffic::Ranks& ranks);

  wire::Encapsulation encapsulation() const { return encapsulation_; }
  const traffic::Ranks& ranks() const { return ranks_; }
  std::uint32_t frame_bytes(std::size_t payload_bytes) const {
    return static_cast<std::uint32_t>(header_offset_ + sizeof(wire::CanaryHeader) + payload_bytes);
  }
  CanaryFrame at(Packet& packet) const;
  const wire::CanaryHeader& header_of(const Packet& packet) const {
    return *reinterpret_cast<const wire::CanaryHeader*>(packet.data() + header_offset_);
  }

  // Makes the contribution of `rank` to a block.
  void contribution(Packet& packet, const CanaryBlock& block, std::uint32_t rank, wire::Bytes part,
                    std::uint32_t part_crc) const;

  // Turns the contribution of somebody into the leader's answer to him: a result or, after a
  // collision, a restoration. The payload is there already. `congested` means that any contribution
  // was.
  void answer(Packet& contribution, const CanaryJob& job, std::uint64_t fingerprint,
              std::uint32_t sum_crc, bool congested) const;
  // Turns the contribution into word that there will be no result.
  void release(Packet& contribution) const;

  // Returns whether a header says what a result of that block has to, with a payload of that CRC
  // behind it.
  bool is_result(const wire::CanaryHeader& header, const CanaryJob& job, std::uint64_t fingerprint,
                 std::uint32_t sum_crc) const;

  // Makes a result of the leader, from nothing, for the switch at `destination`.
  void result(Packet& packet, const CanaryBlock& block, wire::Ipv4Address destination,
              wire::Bytes sum) const;

 private:
  void address(Packet& packet, wire::Ipv4Address source, wire::Ipv4Address destination,
               std::uint16_t port, std::size_t payload_bytes) const;

  wire::Encapsulation encapsulation_;
  const traffic::Ranks& ranks_;
  std::size_t header_offset_;
};

}  // namespace tributary::canary
