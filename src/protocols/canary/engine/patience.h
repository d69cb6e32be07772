// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/clock.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/descriptor_table.h"
#include "protocols/canary/engine/expectations.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// Decides how long blocks wait for contributions, and for how many: by settings that outlive it,
// and by what the blocks before them needed.
class Patience {
 public:
  explicit Patience(const CanaryConfig& config) : config_(config) {}

  Expectation expectation(std::uint32_t job, wire::Ipv4Address leader) const {
    return expectations_.of(job, leader);
  }
  // `root` means on the leader's last hop, `alone` that the job holds no other block.
  Duration timeout(bool root, bool alone, const Expectation& expectation) const;
  // Returns the timeout of a block that gathers, by the settings that are in force now.
  Duration timeout_of(const Descriptor& block, bool alone) const {
    return timeout(block.root, alone, expectation(job_of(block.key), block.shape.leader));
  }

  // Learns from a block whose result is here.
  void learn(const Descriptor& block);
  // Learns from a contribution that came when the block's sum had left.
  void learn_late(const Descriptor& block);

 private:
  Duration spread_of(const Descriptor& block) const;

  const CanaryConfig& config_;
  Expectations expectations_;
};

}  // namespace tributary::canary
