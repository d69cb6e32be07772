// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::apps {

// From now on SIGINT and SIGTERM ask the program to stop, and end a sleep; the second one ends it
// at once. SIGPIPE is ignored: what cannot be written is an error of its own.
void catch_signals();

bool is_stop_requested();

}  // namespace tributary::apps
