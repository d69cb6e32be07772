// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tributary::daemon {

// Logs to standard error by spdlog, with times for people, or with priority prefixes (sd-daemon(3))
// if that is the journal. Nobody waits for it: what is not read in time is dropped and counted
// (control/log_queue.h).
void start_logging(const std::string& level);
// Gives what was logged a moment to be read. What comes later is written as far as the process
// lives.
void finish_logging();

}  // namespace tributary::daemon
