// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "packet/packet.h"
#include "protocols/panama/engine/headers.h"
#include "protocols/panama/wire.h"
#include "traffic/block_traffic.h"
#include "traffic/block_values.h"
#include "traffic/stations.h"
#include "wire/cursor.h"
#include "wire/ipv4.h"

namespace tributary::panama {

// Each worker of a job is behind a port of its own.
struct TrafficPlan : traffic::BlockPlan {
  std::uint32_t first_job = 1;
  std::uint16_t trees = 1;          // of each job
  wire::Ipv4Address group;          // of the first job's first tree; others count up
  std::uint32_t collective = 1024;  // packets of each tree in one; the last ends its epoch
  std::uint32_t run = 0;
  std::uint32_t window = 64;  // packets in flight, per tree, if the switches allow so many
  std::uint16_t elements = 256;
  // Where the switch under test sends its sums, if it is not the root.
  std::optional<std::size_t> parent;
};

// Which worker is where: a switch takes one worker of a job at each port. All ports but the parent
// have workers; jobs take ports in turn.
class PanamaPlaces {
 public:
  PanamaPlaces(const TrafficPlan& plan, std::size_t ports);

  std::size_t port_of(std::uint32_t job, std::uint32_t rank) const {
    return ports_[(std::size_t{job} * workers_ + rank) % ports_.size()];
  }
  // No value if the job has no worker there.
  std::optional<std::uint32_t> rank_at(std::uint32_t job, std::size_t port) const;

 private:
  std::uint32_t workers_;
  std::vector<std::size_t> ports_;
};

// Where a packet stands in its tree.
struct PanamaPosition {
  std::uint32_t epoch = 0;
  std::uint32_t vid = 0;

  friend bool operator==(const PanamaPosition&, const PanamaPosition&) = default;
};

// The packets of one tree of one job.
class PanamaFrames {
 public:
  PanamaFrames(const TrafficPlan& plan, const PanamaPlaces& places,
               const traffic::Stations& stations, std::uint32_t job, std::uint16_t tree);

  std::uint32_t frame_bytes() const {
    return static_cast<std::uint32_t>(sizeof(Headers) + payload_bytes_);
  }
  wire::Ipv4Address group() const { return group_; }
  std::uint32_t shift_of(const PanamaPosition& at) const {
    return static_cast<std::uint32_t>(block_key(at) % traffic::BlockValues::shifts);
  }
  // The fingerprint of all workers.
  std::uint64_t fingerprint(const PanamaPosition& at) const;

  // What `rank` contributes.
  void contribution(Packet& packet, const PanamaPosition& at, std::uint32_t rank,
                    const traffic::BlockValues& values) const;
  // Turns a sum that came up into the root's result.
  void answer(Packet& sum, const traffic::StationRange& root) const;
  // Whether a header is what a sum of all workers has to have, with a payload of that CRC behind.
  bool is_total(const wire::PanamaHeader& header, wire::PanamaKind kind, std::uint64_t total,
                std::uint32_t sum_crc) const;

 private:
  std::uint64_t block_key(const PanamaPosition& at) const {
    return wire::mix_key(key_, (std::uint64_t{at.epoch} << 32) | at.vid);
  }
  bool is_last(std::uint32_t vid) const { return vid + 1 == collective_; }

  wire::PanamaHeader common_;  // what all contributions have in common
  wire::Ipv4Address group_;
  std::uint32_t collective_;
  std::size_t payload_bytes_;
  std::uint64_t key_;
  std::vector<Headers> headers_;  // by rank
};

}  // namespace tributary::panama
