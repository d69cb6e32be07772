// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/packet.h"
#include "protocols/flare/engine/headers.h"
#include "protocols/flare/sparse_wire.h"
#include "protocols/flare/traffic/frames.h"
#include "protocols/flare/traffic/sparse_values.h"
#include "traffic/stations.h"
#include "traffic/tree_places.h"
#include "wire/ipv4.h"

namespace tributary::flare {

// Makes the packets of one job's sparse blocks.
class FlareSparseFrames {
 public:
  // The values outlive it. The plan's window is that of the sparse blocks.
  FlareSparseFrames(const traffic::TreePlan& plan, const traffic::TreePlaces& places,
                    const traffic::Stations& stations, std::uint32_t job,
                    const SparseValues& values);

  const SparseValues& values() const { return values_; }
  std::uint32_t variant_of(const FlarePosition& at) const {
    return static_cast<std::uint32_t>(block_key(at) % SparseValues::variants);
  }
  // Returns the fingerprint of all workers.
  std::uint64_t fingerprint(const FlarePosition& at) const;

  // Makes a shard of what `rank` contributes; `flags` says whether it is sent again.
  void contribution(Packet& packet, const FlarePosition& at, std::uint32_t rank,
                    std::uint32_t shard, std::uint8_t flags) const;
  // Makes a shard of the result, as a root there sends it.
  void result(Packet& packet, const FlarePosition& at, std::uint32_t shard,
              const traffic::StationRange& root) const;
  // Returns whether a header has what all packets of the job have in common.
  bool is_like(const wire::FlareSparseHeader& header, std::uint32_t run) const;

 private:
  std::uint64_t block_key(const FlarePosition& at) const;
  std::uint64_t tag(const FlarePosition& at, std::uint32_t rank, std::uint32_t shard) const;
  void write(Packet& packet, const engine::GroupHeaders& usual, wire::FlareSparseHeader& header,
             const SparseValues::Shard& shard) const;

  const SparseValues& values_;
  wire::FlareSparseHeader common_;
  std::uint64_t key_;
  wire::Ipv4Address group_;
  std::vector<engine::GroupHeaders> headers_;  // by rank
};

}  // namespace tributary::flare
