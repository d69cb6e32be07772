// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/config.h"
#include "traffic/trial.h"

namespace tributary::pktgen {

// Returns whether anything can come in by a device. Nothing can by a file that is only written, or
// by a device that DPDK is told to take nothing from.
bool receives(const control::DeviceConfig& device);

// Returns what is wrong with the trials of a run although they went on to their end; no value if it
// is good. A search goes to where frames are lost; a run that lost most of them is not good.
std::optional<std::string> failure_of(const std::vector<traffic::TrialResult>& trials,
                                      bool expects_answers, bool searches = false);

}  // namespace tributary::pktgen
