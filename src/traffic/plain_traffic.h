// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/pool.h"
#include "packet/translation.h"
#include "traffic/frame_sizes.h"
#include "traffic/neighbours.h"
#include "traffic/sequence_window.h"
#include "traffic/stations.h"
#include "traffic/traffic.h"
#include "wire/ipv4.h"
#include "wire/transport.h"

namespace tributary::traffic {

// A Stamp stands behind the UDP header of every plain frame; the smallest frame over IPv4 has room
// for no more.
struct [[gnu::packed]] Stamp {
  static constexpr std::uint16_t magic_value = 0x5447;  // "TG"

  wire::be16 magic;
  std::uint8_t epoch = 0;
  std::uint8_t path = 0;
  wire::be32 sequence;  // of the path, from 0 in each epoch; wraps
  wire::be64 sent_ns;   // by the generator's clock
};
static_assert(sizeof(Stamp) == 16);

// The frames of a path enter by one port and are expected back by another.
struct PlainPath {
  std::size_t from = 0;
  std::size_t to = 0;
};

struct PlainPlan {
  FrameSizes sizes;
  std::vector<PlainPath> paths;        // they take turns
  std::uint32_t flows = 1;             // 5-tuples of each path
  std::uint16_t source_port = 1024;    // of the first flows; others count up
  std::uint16_t destination_port = 9;  // "discard"
};

// PlainTraffic sends UDP frames over Ethernet, of the version of IP that the stations speak. A flow
// is a pair of hosts, one behind each end of the path, and a UDP source port.
class PlainTraffic final : public Traffic {
 public:
  static constexpr std::size_t paths_max = 256;
  static constexpr std::uint32_t flows_max = 1u << 20;

  // Returns the smallest size of a frame, with its check sequence.
  static constexpr std::uint32_t smallest(bool over_ipv6) {
    return over_ipv6 ? sizeof(Ipv6Headers) + sizeof(Stamp) + FrameSizes::check_bytes
                     : FrameSizes::size_min;
  }

  // Stations and neighbours outlive this; the neighbours are known by the first send().
  PlainTraffic(PlainPlan plan, const Stations& stations, const Neighbours& neighbours,
               PacketPool& pool);

  void send(std::size_t most, Time now, Pacer& pacer, Outbox& out) override;
  void receive(PacketList arrivals, std::size_t port, Time now, Outbox& out) override;
  std::uint64_t under_way() const override {
    return counters_.begun > counters_.done ? counters_.begun - counters_.done : 0;
  }
  std::vector<Figure> figures() const override {
    return {{"reordered", reordered_}, {"duplicates", duplicates_}};
  }

 private:
  struct [[gnu::packed]] Headers4 {
    Ipv4Headers ip;  // its checksum is that of a total length of 0
    wire::UdpHeader udp;
  };
  // These are the headers of a flow, of either version, without lengths.
  using Headers = std::array<std::byte, sizeof(Ipv6Headers)>;
  struct Path {
    PlainPath ends;
    FrameSizes sizes;  // of its own: with a cycle for all, a path would see only some of them
    std::vector<Headers> flows;
    std::size_t next_flow = 0;
    std::uint32_t sent = 0;
    SequenceWindow come;
  };

  void epoch_begins() override;
  void make_flows(Path& path);
  Headers headers_of(const PlainPath& ends, std::uint32_t flow) const;
  std::size_t header_bytes() const { return over_ipv6_ ? sizeof(Ipv6Headers) : sizeof(Headers4); }
  void fill(Packet& packet, Path& path, std::uint32_t bytes, Time now);
  void stamp(std::byte* at, Path& path, Time now) const;
  const Stamp* stamp_in(const Packet& packet) const;
  void arrived(const Packet& packet, std::size_t port, Time now);

  PlainPlan plan_;
  const Stations& stations_;
  const Neighbours& neighbours_;
  PacketPool& pool_;
  bool over_ipv6_;
  std::vector<Path> paths_;
  std::size_t next_path_ = 0;
  bool ready_ = false;
  std::uint8_t epoch_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t duplicates_ = 0;
};

}  // namespace tributary::traffic
