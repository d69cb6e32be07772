// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tributary::pktgen {

// Tells the user, and returns what the program ends with.
int fail(const std::string& message);

}  // namespace tributary::pktgen
