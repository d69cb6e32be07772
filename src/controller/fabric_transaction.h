// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "control/client.h"
#include "controller/topology.h"

namespace tributary::controller {

// One switch gets `after` instead of `before`, of the jobs that are changed.
struct SwitchChange {
  std::size_t switch_index = 0;
  std::vector<std::uint32_t> jobs;
  std::vector<TreePart> before;
  std::vector<TreePart> after;

  friend bool operator==(const SwitchChange&, const SwitchChange&) = default;
};

// Returns what turns `installed` into `wanted`, one entry for each switch at which something
// differs. Trees of other jobs than `jobs` are left alone.
std::vector<SwitchChange> changes_between(const std::vector<PlacedPart>& installed,
                                          const std::vector<PlacedPart>& wanted,
                                          const std::vector<std::uint32_t>& jobs);

// Gives a switch `parts` in place of all that it has of `jobs`; with `check`, it only says whether
// that would do.
using InstallParts = std::function<tl::expected<void, control::CallError>(
    std::size_t switch_index, const std::vector<std::uint32_t>& jobs,
    const std::vector<TreePart>& parts, bool check)>;

struct TransactionFailure {
  std::size_t switch_index = 0;
  control::CallError why;
  bool changed = false;  // something had been installed, and was taken back
  // These switches could not be brought back to what they had, and why.
  std::vector<std::pair<std::size_t, std::string>> left;
};

// Makes all of the changes or none: it asks all switches, then tells them one after the other, and
// takes back what was done when one fails.
tl::expected<void, TransactionFailure> carry_out(const std::vector<SwitchChange>& changes,
                                                 const InstallParts& install);

}  // namespace tributary::controller
