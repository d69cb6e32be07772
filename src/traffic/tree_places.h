// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "traffic/block_traffic.h"
#include "wire/ipv4.h"

namespace tributary::traffic {

// All kinds of aggregation that have trees are told this. Each worker of a job is behind a port of
// its own.
struct TreePlan : BlockPlan {
  std::uint32_t first_job = 1;
  wire::Ipv4Address group;  // of the first job's first tree; others count up
  std::uint32_t run = 0;
  std::uint32_t window = 64;  // packets in flight, per tree
  std::uint16_t elements = 256;
  // The switch under test sends its sums to this port, if it is not the root.
  std::optional<std::size_t> parent;
};

// TreePlaces knows which worker is where: a switch takes one worker of a job at each port. All
// ports but the parent have workers; jobs take ports in turn.
class TreePlaces {
 public:
  TreePlaces(const TreePlan& plan, std::size_t ports);

  std::size_t port_of(std::uint32_t job, std::uint32_t rank) const {
    return ports_[(std::size_t{job} * workers_ + rank) % ports_.size()];
  }
  // Returns no value if the job has no worker there.
  std::optional<std::uint32_t> rank_at(std::uint32_t job, std::size_t port) const;

 private:
  std::uint32_t workers_;
  std::vector<std::size_t> ports_;
};

}  // namespace tributary::traffic
