// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "host/communicator_options.h"

namespace tributary::host {

// The level of a line that people are told: whoever wants to hear one level hears those before it,
// too. Errors are what calls return, and are no lines.
enum class LogLevel : std::uint8_t {
  error,
  warn,    // hosts do what switches were to do, or somebody is waited for
  notice,  // by which algorithm a communicator runs
  info,    // what it did, when it ends
};

// Returns the level that the parameters of these options, which are checked, ask for; `notice`
// where they do not say.
LogLevel log_level_of(const CommunicatorOptions& options);

// Tells a line, whatever its level, as `on_notice` says.
void tell(const CommunicatorOptions& options, const std::string& line);

}  // namespace tributary::host
