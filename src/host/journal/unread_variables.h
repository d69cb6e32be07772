// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "host/communicator_options.h"

namespace tributary::host {

// What people should know of variables TRIBUTARY_... in the environment: a misspelt one would
// change nothing, and nobody would see why.

// Of these names, which are not empty: a line on those that nothing of Tributary reads, with the
// nearest names that there are. Empty: there are none.
std::string unknown_variables(const std::vector<std::string>& names);
// Of the same: a line on those of protocols that have no part in what the options ask for.
// Precondition: these are checked. Empty: there are none.
std::string idle_variables(const std::vector<std::string>& names,
                           const CommunicatorOptions& options);

// Says both lines, a warning and a notice, of this process's environment, and that once in the
// process, of its first communicator. As all lines, rank 0 alone writes them to standard error.
void tell_of_unread_variables(const CommunicatorOptions& options);

}  // namespace tributary::host
