// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "protocols/netreduce/engine/config.h"

namespace tributary::netreduce {

// Tells how the connection from a rank to the next one runs, as seen from a switch whose part of
// the ring is what lies below it: local members, and racks with a switch of their own.
enum class Path : std::uint8_t {
  elsewhere,  // not by this switch
  inside,     // between two of the parts below: waits here for the sum of all
  upwards,    // from below to above: carries the sum of what is below
  downwards   // from above: brings the sum of all
};

// This is the part that a switch has in a ring: the paper's connection translation table, computed
// from the configuration. Sets of ranks have a bit for each rank.
class Paths {
 public:
  explicit Paths(const RingConfig& ring);

  Path of(std::uint16_t rank) const { return paths_[rank]; }
  // Returns the ranks that lie below.
  std::uint64_t below() const { return below_; }
  // Returns the ranks whose packets come from below and by here: these are added up as soon as all
  // are there.
  std::uint64_t gathered() const { return gathered_; }
  // Returns those of them that are added: one of each part, as all packets that leave a rack have
  // the same sum.
  std::uint64_t added() const { return added_; }
  std::uint64_t upwards() const { return upwards_; }
  std::uint64_t inside() const { return gathered_ & ~upwards_; }

 private:
  std::vector<Path> paths_;
  std::uint64_t below_ = 0;
  std::uint64_t gathered_ = 0;
  std::uint64_t added_ = 0;
  std::uint64_t upwards_ = 0;
};

}  // namespace tributary::netreduce
