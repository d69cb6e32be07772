// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "property/membership/shape.h"

namespace tributary::test {

struct MembershipOutcome {
  std::string fault;  // empty if all is well
  std::uint64_t processes = 0;
  std::uint64_t memberships = 0;
  std::uint64_t sums = 0;         // of one process
  std::uint64_t errors = 0;       // of one process
  std::uint64_t regroupings = 0;  // that one process asked for
  std::uint64_t digest = 0;       // of all that happened
};

// Runs elastic worlds of that shape, from their founding to a calm end, in which all processes that
// are left have to find each other; then each keeper gets a new world. `trace` gets the lines for
// the user.
MembershipOutcome run_membership_trial(const MembershipShape& shape,
                                       const std::function<void(const std::string&)>& trace = {});

}  // namespace tributary::test
