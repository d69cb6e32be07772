// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "packet/clock.h"
#include "protocols/canary/engine/config.h"
#include "protocols/canary/engine/descriptor_table.h"
#include "protocols/canary/engine/expectations.h"
#include "wire/ipv4.h"

namespace tributary::canary {

// How long blocks wait for contributions, and for how many: by settings that outlive it, and by
// what the blocks before them needed.
class Patience {
 public:
  explicit Patience(const CanaryConfig& config) : config_(config) {}

  Expectation expectation(std::uint32_t job, wire::Ipv4Address leader) const {
    return expectations_.of(job, leader);
  }
  // `root`: on the leader's last hop. `alone`: the job holds no other block.
  Duration timeout(bool root, bool alone, const Expectation& expectation) const;
  // The timeout of a block that gathers, by the settings that are in force now.
  Duration timeout_of(const Descriptor& block, bool alone) const {
    return timeout(block.root, alone, expectation(job_of(block.key), block.shape.leader));
  }

  // The result of the block is here.
  void learn(const Descriptor& block);
  // A contribution came when the block's sum had left.
  void learn_late(const Descriptor& block);

 private:
  Duration spread_of(const Descriptor& block) const;

  const CanaryConfig& config_;
  Expectations expectations_;
};

}  // namespace tributary::canary
