// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/fabric_transaction.h"

namespace tributary::controller {

// A switch takes no tree of a job: its memory is full, as a rule.
struct Objection {
  std::size_t switch_index = 0;
  std::uint32_t job = 0;
  std::string why;
};

// Says why a switch would not take `parts` in place of all that it has of `jobs`; no value: it
// would, or it cannot be asked.
using AskSwitch = std::function<std::optional<std::string>(std::size_t switch_index,
                                                           const std::vector<std::uint32_t>& jobs,
                                                           const std::vector<TreePart>& parts)>;

// Asks each switch about its change. For one that would not take it, it returns the first job that
// does not fit beside those before it: what is installed comes before what is new.
std::vector<Objection> find_objections(const std::vector<SwitchChange>& changes,
                                       const AskSwitch& ask);

}  // namespace tributary::controller
