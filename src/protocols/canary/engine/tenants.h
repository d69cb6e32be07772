// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "packet/packet.h"
#include "protocols/canary/engine/config.h"

namespace tributary::canary {

// What each job and each port may take of the descriptor table, and what they hold of it.
//
// Memory is bounded whatever ids come: jobs that the configuration does not name are counted in
// two rows of counters, each at a place that a seeded hash chooses, and a job holds at most the
// smaller of its two counters. So no job escapes its quota, however many there are; and a job that
// is within it is refused only if both its places are full of others.
class Tenants {
 public:
  enum class Verdict : std::uint8_t { within, job_met, port_met };

  // A share of a table that protects others and does not show in ordinary use; a table of 64 or
  // less has nothing to share.
  static std::uint32_t default_quota(std::uint32_t descriptors);

  // The table has `descriptors`, the switch `ports`.
  Tenants(const CanaryConfig& config, std::uint32_t descriptors, PortIndex ports,
          std::uint64_t seed);

  // Whether packets of `job` are taken from `port`.
  bool may_speak(std::uint32_t job, PortIndex port) const {
    return listed_.empty() || is_allowed(job, port);
  }
  // Whether the configuration names `job`, and how many jobs it names.
  bool is_listed(std::uint32_t job) const { return index_of(job) != listed(); }
  std::uint32_t listed() const { return static_cast<std::uint32_t>(listed_.size()); }

  // Whether `job` may begin one more block with a packet from `port`.
  Verdict judge(std::uint32_t job, PortIndex port) const;
  // Descriptors that `job` holds: of a job that is not listed, no less than it does.
  std::uint32_t held_by(std::uint32_t job) const;
  // A descriptor was begun, or released.
  void take(std::uint32_t job, PortIndex port) { count(job, port, 1); }
  void give(std::uint32_t job, PortIndex port) { count(job, port, ~std::uint32_t{0}); }

 private:
  static constexpr std::uint32_t unlimited = ~std::uint32_t{0};
  static constexpr std::size_t rows = 2;
  static constexpr std::size_t columns = 2048;
  struct Listed {
    JobRule rule;
    std::uint32_t quota = 0;
    std::uint32_t held = 0;
  };

  bool is_allowed(std::uint32_t job, PortIndex port) const;
  std::size_t index_of(std::uint32_t job) const;  // listed() if it is not
  std::size_t index_of_port(PortIndex port) const;
  std::size_t place_of(std::uint32_t job, std::size_t row) const;
  std::uint32_t held_by_other(std::uint32_t job) const;
  void count(std::uint32_t job, PortIndex port, std::uint32_t change);

  std::uint64_t seed_;
  std::uint32_t job_quota_;
  std::uint32_t port_quota_;
  std::vector<Listed> listed_;  // by job
  std::vector<std::uint32_t> held_by_port_;
  std::array<std::uint32_t, rows * columns> held_by_others_{};
};

}  // namespace tributary::canary
