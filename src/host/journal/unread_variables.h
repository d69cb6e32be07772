// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "host/communicator_options.h"

namespace tributary::host {

// People should know of variables TRIBUTARY_... in the environment that do nothing: a misspelt one
// would change nothing, and nobody would see why.

// Returns a line on those of these variables, none of them empty, that nothing of Tributary reads,
// with the nearest names that there are. Empty: there are none.
std::string unknown_variables(const std::vector<std::string>& names);
// Returns a line on those of these variables that are for protocols with no part in what the
// options ask for. Empty: there are none. Precondition: the options are checked.
std::string idle_variables(const std::vector<std::string>& names,
                           const CommunicatorOptions& options);

// Tells both lines, a warning and a notice, about this process's environment, once in the process,
// for its first communicator. As with all lines, rank 0 alone writes them to standard error.
void tell_of_unread_variables(const CommunicatorOptions& options);

}  // namespace tributary::host
