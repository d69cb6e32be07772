// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "protocols/netreduce/engine/aggregator.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/engine/connection.h"
#include "protocols/netreduce/engine/newcomer.h"
#include "protocols/netreduce/engine/paths.h"
#include "protocols/netreduce/wire.h"
#include "wire/crc32.h"

namespace tributary::netreduce {

// One ring has the run of its job that it serves, the connections by which its ranks send, and its
// memory.
class Ring {
 public:
  explicit Ring(const RingConfig& config);

  const RingConfig& config() const { return config_; }
  const Paths& paths() const { return paths_; }
  std::uint16_t world() const { return static_cast<std::uint16_t>(config_.members.size()); }
  // Returns the connection by which the rank sends in this run.
  Connection& connection(std::uint16_t rank) {
    connections_[rank].enter(runs_);
    return connections_[rank];
  }
  // Returns null if a first packet of the rank came since the ring was set up.
  Newcomer* newcomer(std::uint16_t rank) { return newcomers_[rank] ? &*newcomers_[rank] : nullptr; }
  void meet(std::uint16_t rank) { newcomers_[rank].reset(); }
  // Returns the key by which the rank's packets may come until it is met.
  ConnectionKey path_of(std::uint16_t rank) const {
    return {config_.members[rank], config_.members[(rank + 1u) % world()], ConnectionKey::any_qp};
  }
  // Returns how many ranks' connections are known.
  std::size_t claimed() const;
  // Returns when one of them was heard last; no value if none ever was.
  std::optional<Time> used() const;
  AggregatorArray& aggregators() { return aggregators_; }
  // Returns the joint for what stands behind so many bytes of a payload; null unless the packet is
  // full.
  const wire::Crc32Joint* joint(std::size_t payload_bytes, std::size_t header_bytes) const {
    if (payload_bytes > config_.mtu || !wire::is_ring_mtu(payload_bytes)) {
      return nullptr;
    }
    const auto& joints = joints_[place_of(payload_bytes)];
    return header_bytes != 0 ? &joints.first : &joints.other;
  }
  // Returns the joint for the payload of a packet from the middle of such a message.
  const wire::Crc32Joint& middle_joint(const Message& message) const {
    return joints_[place_of(message.mtu)].other;
  }
  const AggregatorArray& aggregators() const { return aggregators_; }

  // Returns the payload bytes of a message's full packets. Its first packet, with so many, shows
  // them if others follow it: queue pairs may have a smaller path MTU than the ring has room for.
  std::uint32_t mtu_of(const wire::InaHeader& header, std::size_t payload_bytes) const {
    const bool shows = header.packets.value() > 1 && payload_bytes < config_.mtu &&
                       wire::is_ring_mtu(payload_bytes);
    return shows ? static_cast<std::uint32_t>(payload_bytes) : config_.mtu;
  }
  // Returns whether the header of a message with such packets can be of this ring, and fits its
  // memory.
  bool admits(const wire::InaHeader& header, std::uint32_t mtu) const;
  // Returns whether `key` leads from that rank to the next.
  bool is_path_of(std::uint16_t rank, const ConnectionKey& key) const;

  // Returns where packets of that rank that leave this switch meet those of other racks; no value
  // if they do not.
  std::optional<wire::IpAddress> above(std::uint16_t rank) const {
    return paths_.of(rank) == Path::upwards ? config_.parent : std::nullopt;
  }

  // Returns whether all packets go from this switch to their receivers.
  bool is_of_one_switch() const { return config_.racks.empty() && !config_.parent; }

  // Takes the message's run for granted, or begins it. Returns false if it is of a run that is
  // over, or begins in its middle while another is served.
  bool enter(std::uint32_t run, std::uint32_t message);
  std::uint64_t runs() const { return runs_; }

  // Counts what was done for the ring.
  struct Tally {
    std::uint64_t gradients = 0;
    std::uint64_t sums = 0;
  };
  Tally& tally() { return tally_; }
  const Tally& tally() const { return tally_; }

 private:
  RingConfig config_;
  Paths paths_;
  using Run = std::optional<std::uint32_t>;
  Run run_;  // no value: none was seen since the ring was set up
  // These are the runs before it, of which the oldest is forgotten first. Ranks that search for
  // their path MTU make a run with each, and what is left of any may come late.
  std::array<Run, wire::ring_mtus.size()> past_;
  std::uint64_t runs_ = 0;
  Tally tally_;
  std::vector<Connection> connections_;             // by rank
  std::vector<std::optional<Newcomer>> newcomers_;  // by rank; of those whose packets come by here
  AggregatorArray aggregators_;

  // These are for full packets of one length.
  struct Joints {
    explicit Joints(std::uint32_t mtu) : first(mtu - sizeof(wire::InaHeader)), other(mtu) {}
    wire::Crc32Joint first;  // for the first of a message
    wire::Crc32Joint other;
  };
  // The path MTUs of RDMA are powers of two.
  static std::size_t place_of(std::size_t mtu) {
    return static_cast<std::size_t>(std::bit_width(mtu) - std::bit_width(wire::ring_mtus.front()));
  }
  std::vector<Joints> joints_;  // by place, up to the ring's MTU
};

}  // namespace tributary::netreduce
