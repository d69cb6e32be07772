// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tributary::dataplane {

// Sends what the EAL and its drivers print to spdlog: errors as warnings, the rest as debug.
// Called once, before the EAL starts; the stream lives as long as the process.
void redirect_eal_log();

// The first error that was printed on this thread since the last call, which is the driver's: the
// EAL adds that something failed. Empty if there was none.
std::string take_driver_error();

// What a driver's error number means, negative or not.
std::string reason_of(int error);

}  // namespace tributary::dataplane
