// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/packet.h"
#include "protocols/panama/engine/headers.h"
#include "protocols/panama/wire.h"
#include "traffic/block_values.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"
#include "wire/cursor.h"
#include "wire/ipv4.h"

namespace tributary::panama {

struct TrafficPlan : traffic::TreePlan {
  std::uint16_t trees = 1;          // of each job
  std::uint32_t collective = 1024;  // packets of each tree in one; the last ends its epoch
};

// Tells where a packet stands in its tree.
struct PanamaPosition {
  std::uint32_t epoch = 0;
  std::uint32_t vid = 0;

  friend bool operator==(const PanamaPosition&, const PanamaPosition&) = default;
};

// Makes the packets of one tree of one job.
class PanamaFrames {
 public:
  PanamaFrames(const TrafficPlan& plan, const traffic::TreePlaces& places,
               const traffic::Stations& stations, std::uint32_t job, std::uint16_t tree);

  std::uint32_t frame_bytes() const {
    return static_cast<std::uint32_t>(sizeof(Headers) + payload_bytes_);
  }
  wire::Ipv4Address group() const { return group_; }
  std::uint32_t shift_of(const PanamaPosition& at) const {
    return static_cast<std::uint32_t>(block_key(at) % traffic::BlockValues::shifts);
  }
  // Returns the fingerprint of all workers.
  std::uint64_t fingerprint(const PanamaPosition& at) const;

  // Makes the packet that `rank` contributes.
  void contribution(Packet& packet, const PanamaPosition& at, std::uint32_t rank,
                    const traffic::BlockValues& values) const;
  // Turns a sum that came up into the root's result.
  void answer(Packet& sum, const traffic::StationRange& root) const;
  // Returns whether a header is what a sum of all workers has to have, with a payload of that CRC
  // behind.
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
