// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/frame.h"
#include "packet/packet.h"
#include "protocols/netreduce/wire.h"
#include "traffic/block_traffic.h"
#include "traffic/block_values.h"
#include "traffic/neighbours.h"
#include "traffic/ranks.h"
#include "wire/embedding_prefix.h"
#include "wire/roce.h"

namespace tributary::netreduce {

// A job of this plan is a ring.
struct TrafficPlan : traffic::BlockPlan {
  std::uint32_t first_ring = 1;
  std::uint32_t first_run = 1;
  std::uint16_t window = 2;            // messages in flight, of each rank
  std::uint16_t message_packets = 64;  // of each message but the first of a run
  std::uint16_t path_mtu = 1024;       // payload bytes of each packet

  std::uint32_t elements(wire::ElementType type) const {
    return static_cast<std::uint32_t>((path_mtu - wire::fingerprint_bytes) /
                                      wire::element_bytes(type));
  }
};

// Tells where a packet stands. Message 0 of a run has one packet, all others as many as the plan
// says.
struct NetReducePlace {
  std::uint32_t run = 0;
  std::uint32_t message = 0;
  std::uint32_t offset = 0;    // in its message
  std::uint64_t sequence = 0;  // of all packets that its rank has sent
};

// Makes the packets of one ring: RDMA WRITEs with immediate, as a network card cuts them up.
class NetReduceFrames {
 public:
  // Ranks and neighbours outlive it. The packets have headers of IPv4; with a prefix, their ICRC is
  // that of the headers of IPv6 which they have on the line.
  NetReduceFrames(const TrafficPlan& plan, const traffic::Ranks& ranks,
                  const traffic::Neighbours& neighbours, std::uint32_t job);

  std::uint32_t icrc_of(const wire::Ipv4Header& ip, const wire::UdpHeader& udp,
                        wire::Bytes covered) const;

  // Returns the number of the queue pair that any rank of that ring has at the next.
  static std::uint32_t queue_pair(std::uint32_t job) { return first_queue_pair + job; }
  static std::uint32_t job_of(std::uint32_t queue_pair) { return queue_pair - first_queue_pair; }
  std::uint32_t psn(std::uint32_t rank, std::uint64_t sequence) const;

  void gradient(Packet& packet, const NetReducePlace& place, std::uint32_t rank,
                const traffic::BlockValues& values) const;
  // Returns whether that is, but for what routers change, the packet which `rank` sent, with the
  // sum of all ranks in it.
  bool is_result(const engine::Frame& frame, const NetReducePlace& place, std::uint32_t rank,
                 const traffic::BlockValues& values) const;

 private:
  static constexpr std::uint32_t first_queue_pair = 0x11;  // the first of a fresh machine

  // These are the headers between the UDP header and the elements.
  struct Head {
    std::array<std::byte, sizeof(wire::BthHeader) + sizeof(wire::RethHeader) +
                              sizeof(wire::ImmediateHeader) + sizeof(wire::InaHeader)>
        bytes;
    std::size_t size = 0;

    template <typename Header>
    void append(const Header& header);
  };
  Head head(const NetReducePlace& place, std::uint32_t rank) const;
  std::uint32_t packets_of(const NetReducePlace& place) const {
    return place.message == 0 ? 1 : message_packets_;
  }
  std::uint16_t source_port(std::uint32_t rank) const;
  std::uint64_t key(const NetReducePlace& place) const;

  const traffic::Ranks& ranks_;
  const traffic::Neighbours& neighbours_;
  std::optional<wire::EmbeddingPrefix> prefix_;
  std::uint32_t ring_;
  std::uint32_t job_;
  traffic::Reduction kind_;
  std::uint32_t window_;
  std::uint32_t message_packets_;
  std::uint32_t path_mtu_;
};

}  // namespace tributary::netreduce
