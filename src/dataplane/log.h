// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::dataplane {

// Sends what the EAL and its drivers print to spdlog: errors as warnings, the rest as debug.
// Called once, before the EAL starts; the stream lives as long as the process.
void redirect_eal_log();

}  // namespace tributary::dataplane
