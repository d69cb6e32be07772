// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/packet.h"
#include "protocols/canary/engine/config.h"

namespace tributary::canary {

// Tells what each job and each port may take of the descriptor table, and what they hold of it.
//
// Memory is bounded whatever ids come: jobs that the configuration does not name are counted in
// two rows of counters, each at a place that a seeded hash chooses, and a job holds at most the
// smaller of its two counters. So no job escapes its quota, however many there are; and a job that
// is within it is refused only if both its places are full of others. Where a job and a port are
// counted is looked up once per block.
class Tenants {
 public:
  enum class Verdict : std::uint8_t { within, job_met, port_met };

  // Tells where a job and a port are counted: valid for the Tenants that told it.
  struct Share {
    std::array<std::uint32_t, 2> job{};  // twice the same place for a job that is listed
    PortIndex port = no_port;
  };

  // Returns a share of a table that protects others and does not show in ordinary use; a table of
  // 64 or less has nothing to share.
  static std::uint32_t default_quota(std::uint32_t descriptors);

  // The table has `descriptors`, the switch `ports`.
  Tenants(const CanaryConfig& config, std::uint32_t descriptors, PortIndex ports,
          std::uint64_t seed);

  // Returns whether packets of `job` are taken from `port`.
  bool may_speak(std::uint32_t job, PortIndex port) const {
    return listed_.empty() || is_allowed(job, port);
  }
  // These tell whether the configuration names `job`, and how many jobs it names.
  bool is_listed(std::uint32_t job) const { return index_of(job) != listed(); }
  std::uint32_t listed() const { return static_cast<std::uint32_t>(listed_.size()); }

  Share share_of(std::uint32_t job, PortIndex port) const;
  // Judges whether the job may begin one more block with a packet from the port.
  Verdict judge(const Share& share) const;
  // Returns the descriptors that the job holds; for a job that is not listed, no less than it does.
  std::uint32_t held_by(const Share& share) const {
    return std::min(held_by_job_[share.job[0]], held_by_job_[share.job[1]]);
  }
  // These count a descriptor that was begun, or released.
  void take(const Share& share) { count(share, 1); }
  void give(const Share& share) { count(share, ~std::uint32_t{0}); }

 private:
  static constexpr std::uint32_t unlimited = ~std::uint32_t{0};
  static constexpr std::uint32_t columns = 2048;
  static constexpr std::uint32_t hashed = 2 * columns;  // places of jobs that are not listed
  struct Listed {
    JobRule rule;
    std::uint32_t quota = 0;
  };

  bool is_allowed(std::uint32_t job, PortIndex port) const;
  std::size_t index_of(std::uint32_t job) const;  // listed() if it is not
  std::uint32_t quota_of(const Share& share) const {
    return share.job[0] < hashed ? job_quota_ : listed_[share.job[0] - hashed].quota;
  }
  void count(const Share& share, std::uint32_t change);

  std::uint64_t seed_;
  std::uint32_t job_quota_;
  std::uint32_t port_quota_;
  std::vector<Listed> listed_;              // by job
  std::vector<std::uint32_t> held_by_job_;  // two rows of hashed places, then those of listed jobs
  std::vector<std::uint32_t> held_by_port_;
};

}  // namespace tributary::canary
