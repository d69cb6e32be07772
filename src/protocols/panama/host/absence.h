// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "host/job.h"
#include "protocols/panama/host/packets.h"

namespace tributary::host {

// Finds out which ranks are missing in a result (section 7). No field says so, but its fingerprint
// lacks their tags, and whoever has the key knows these. Tags are random numbers: other ranks, as
// many as are missing, have the same sum with a chance of 2^-64 each time.
class PanamaAbsence {
 public:
  using Ranks = std::vector<std::uint32_t>;  // increasing

  explicit PanamaAbsence(std::uint32_t world_size) : world_size_(world_size) {}

  // Tells whether up to `missing` ranks are found in reasonable time, whoever they are: each one
  // more takes as many times longer as there are ranks.
  static bool can_find(std::uint32_t world_size, std::uint32_t missing);

  // Returns the ranks that are missing in a result with that fingerprint; no value if no `missing`
  // ranks are it, so that the result is not what the ranks contributed. `key` is the call's.
  // Precondition: `missing` is less than the world size, and can be found.
  std::optional<Ranks> find(const JobKey& key, const PanamaPlace& place, std::uint64_t fingerprint,
                            std::uint32_t missing);
  // Returns how often others were missing than before, so that they had to be searched for.
  std::uint64_t searches() const { return searches_; }

 private:
  std::optional<Ranks> find_known(const JobKey& key, const PanamaPlace& place,
                                  std::uint64_t lacking, std::uint32_t missing);

  std::uint32_t world_size_;
  std::deque<Ranks> known_;  // who was missing last, the latest first: the same are late again
  std::uint64_t searches_ = 0;
};

}  // namespace tributary::host
