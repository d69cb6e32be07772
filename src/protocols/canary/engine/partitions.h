// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "packet/clock.h"

namespace tributary::canary {

// Divides the descriptor array among a limited number of concurrent jobs (3.2.1, 6): first come,
// first served. Within its part a job's blocks follow each other by sequence number, so that blocks
// collide with nobody as long as the job has not more in flight than its part has slots: a power of
// two, so that this holds where the numbers wrap, too. A part can be taken over when its job holds
// no descriptor and has begun no block for some time.
class Partitions {
 public:
  static constexpr std::uint32_t count_max = 64;
  static constexpr std::uint32_t none = 0xffffffff;

  // There are `count` parts of up to `slots` descriptors together; 0: no partition, else 1 to
  // count_max, and not more than slots.
  Partitions(std::uint32_t count, std::uint32_t slots);

  bool enabled() const { return count_ != 0; }
  // Returns the slots per part.
  std::uint32_t size() const { return size_; }

  // Returns the slot for this id of `job`; `none` if it has no part.
  std::uint32_t slot_of(std::uint32_t job, std::uint32_t id) const;
  // Sees to it that `job` has a part; false if all that it may have are taken. The first `reserved`
  // parts are not for it. A part is silent for `silence` before it is given to another job.
  bool admit(std::uint32_t job, std::uint32_t reserved, Time now, Duration silence);
  // These note that a descriptor in `slot` was begun, or released.
  void add(std::uint32_t slot, Time now);
  void remove(std::uint32_t slot) { --parts_[slot / size_].descriptors; }

 private:
  // No job has this number.
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  struct Part {
    Time last_begun{};
    std::uint32_t descriptors = 0;
  };
  std::uint32_t part_of(std::uint64_t job) const;

  std::uint32_t count_;
  std::uint32_t size_;
  std::array<std::uint64_t, count_max> jobs_;
  std::array<Part, count_max> parts_{};
};

}  // namespace tributary::canary
