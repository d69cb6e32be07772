// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tributary::pktgen {

// DPDK's af_packet driver numbers the fanout group of an interface by process and interface, so
// that neighbours in one network namespace may clash, and the later one cannot open its port. Calls
// `run` in this process if it clashes with nobody; else in a child that does not, and passes
// signals on to it. Returns what `run` does. No thread may have been started.
int run_without_clash(const std::vector<std::string>& interfaces, const std::function<int()>& run);

}  // namespace tributary::pktgen
