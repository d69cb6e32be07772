// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/packet.h"
#include "protocols/flare/engine/headers.h"
#include "protocols/flare/wire.h"
#include "traffic/block_values.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"

namespace tributary::flare {

// Names a block, and its run.
struct FlarePosition {
  std::uint32_t run = 0;
  std::uint64_t block = 0;

  friend bool operator==(const FlarePosition&, const FlarePosition&) = default;
};

// Makes the packets of one job.
class FlareFrames {
 public:
  FlareFrames(const traffic::TreePlan& plan, const traffic::TreePlaces& places,
              const traffic::Stations& stations, std::uint32_t job);

  std::uint32_t frame_bytes() const {
    return static_cast<std::uint32_t>(sizeof(Headers) + payload_bytes_);
  }
  std::uint32_t shift_of(const FlarePosition& at) const {
    return static_cast<std::uint32_t>(block_key(at) % traffic::BlockValues::shifts);
  }
  // Returns the fingerprint of all workers.
  std::uint64_t fingerprint(const FlarePosition& at) const;

  // Makes what `rank` contributes; `flags` says whether it is sent again.
  void contribution(Packet& packet, const FlarePosition& at, std::uint32_t rank, std::uint8_t flags,
                    const traffic::BlockValues& values) const;
  // Turns a sum that came up into the root's result.
  void answer(Packet& sum, const traffic::StationRange& root) const;
  // Returns whether a header is what a sum of all workers has to have, with a payload of that CRC
  // behind.
  bool is_total(const wire::FlareHeader& header, wire::FlareKind kind, const FlarePosition& at,
                std::uint32_t sum_crc) const;

 private:
  std::uint64_t block_key(const FlarePosition& at) const;

  wire::FlareHeader common_;  // what all contributions have in common
  std::size_t payload_bytes_;
  std::uint64_t key_;
  std::vector<Headers> headers_;  // by rank
};

}  // namespace tributary::flare
