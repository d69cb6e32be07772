// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tributary::test {

// Returns whether an error of Canary says that this rank contributed nothing or does not answer.
bool names_missing(const std::string& message, std::uint32_t rank);

// Returns whether an error of NetReduce says what did not come or, where a switch was restarted,
// that it has forgotten the rest of a sum.
bool says_what_is_lost(const std::string& message, bool restarted);

}  // namespace tributary::test
