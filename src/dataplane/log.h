// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tributary::dataplane {

// Sends what the EAL and its drivers print to spdlog: errors as warnings, the rest as debug. It is
// called once, before the EAL starts; the stream lives as long as the process.
void redirect_eal_log();

// Returns the first error that was printed on this thread since the last call, or nothing. The
// first one is the driver's: the EAL adds that something failed.
std::string take_driver_error();

// Says what a driver's error number means, negative or not.
std::string reason_of(int error);

}  // namespace tributary::dataplane
