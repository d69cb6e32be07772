// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/engine/patience.h"

#include <algorithm>
#include <chrono>

namespace tributary::canary {
namespace {

// Blocks wait so long while nothing is known of a job.
constexpr Duration timeout_initial = std::chrono::milliseconds(1);

// Only the number is learned from an attempt after the first: ranks contribute again one after the
// other, as they hear of it.
bool is_first_attempt(const Descriptor& block) {
  return wire::canary_attempt(static_cast<std::uint32_t>(block.key)) == 0;
}

}  // namespace

// Waiting saves packets, and costs time when the last contribution was in before it is over. A job
// with one block at a time has lines to spare and nothing to do meanwhile: it is not made to wait.
Duration Patience::timeout(bool root, bool alone, const Expectation& expectation) const {
  if (root) {
    return config_.root_timeout;
  }
  if (config_.timeout) {
    return *config_.timeout;
  }
  if (alone) {
    return config_.timeout_min;
  }
  const auto& spread = expectation.spread;
  return std::clamp(spread.known() ? spread.bound() : timeout_initial, config_.timeout_min,
                    config_.timeout_max);
}

// Where blocks wait for as many as are expected, too long a timeout costs nothing and too short a
// one packets: how long it must be is not forgotten while a window is quiet.
void Patience::learn(const Descriptor& block) {
  Observation observed{block.seen()};
  if (is_first_attempt(block)) {
    observed.spread = spread_of(block);
  }
  if (config_.learn_contributions) {
    observed.memory = Spread::Memory::windows;
  }
  expectations_.learn(job_of(block.key), block.shape.leader, block.root, observed);
}

void Patience::learn_late(const Descriptor& block) {
  if (!block.root && is_first_attempt(block)) {
    expectations_.learn_late(job_of(block.key), block.shape.leader, spread_of(block));
  }
}

// A contribution that comes later than any timeout says no more than that.
Duration Patience::spread_of(const Descriptor& block) const {
  return std::min(block.last - block.born, config_.timeout_max);
}

}  // namespace tributary::canary
