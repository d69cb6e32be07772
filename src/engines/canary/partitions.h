// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "packet/clock.h"
#include "packet/packet.h"

namespace tributary::canary {

// The static partition of the descriptor array among a limited number of concurrent jobs (3.2.1,
// 6): first come, first served. Within its part a job's blocks follow each other by sequence
// number, so that blocks collide with nobody as long as the job has not more in flight than its
// part has slots. A part can be taken over when its job holds no descriptor and has begun no block
// for some time. Job ids cost nothing, so one port may open no more than half of what jobs that
// nobody listed share.
class Partitions {
 public:
  static constexpr std::uint32_t count_max = 64;
  static constexpr std::uint32_t none = 0xffffffff;

  // `count` parts of `slots` descriptors together; 0: no partition, else 1 to count_max, and not
  // more than slots.
  Partitions(std::uint32_t count, std::uint32_t slots);

  bool enabled() const { return count_ != 0; }
  // Slots per part.
  std::uint32_t size() const { return size_; }

  // The slot for this id of `job`; `none` if it has no part.
  std::uint32_t slot_of(std::uint32_t job, std::uint32_t id) const;
  struct Applicant {
    std::uint32_t job = 0;
    PortIndex port = no_port;    // whose packet asks for it; none for a listed job
    std::uint32_t reserved = 0;  // the first parts, which are not for it
  };
  // Sees to it that a job has a part; false if all that it may have are taken. A part is silent for
  // `silence` before it is given to another job.
  bool admit(const Applicant& applicant, Time now, Duration silence);
  // A descriptor in `slot` was begun, or released.
  void add(std::uint32_t slot, Time now);
  void remove(std::uint32_t slot) { --parts_[slot / size_].descriptors; }

 private:
  // No job has this number.
  static constexpr std::uint64_t nobody = ~std::uint64_t{0};
  struct Part {
    std::uint64_t job = nobody;
    PortIndex opener = no_port;
    std::uint32_t descriptors = 0;
    Time last_begun{};

    bool is_free(Time now, Duration silence) const {
      return job == nobody || (descriptors == 0 && last_begun + silence <= now);
    }
  };
  std::uint32_t part_of(std::uint64_t job) const;

  std::uint32_t count_;
  std::uint32_t size_;
  std::array<Part, count_max> parts_{};
};

}  // namespace tributary::canary
