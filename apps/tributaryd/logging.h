// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tributary::daemon {

// spdlog to standard error: with times for people, with priority prefixes (sd-daemon(3)) when that
// is the journal.
void start_logging(const std::string& level);

}  // namespace tributary::daemon
