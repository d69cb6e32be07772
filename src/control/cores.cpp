// SPDX-License-Identifier: BSD-3-Clause
#include "control/cores.h"

#include <sched.h>

namespace tributary::control {

std::vector<unsigned> automatic_cores() {
  constexpr std::size_t cores_max = 8;
  std::vector<unsigned> cores;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0) {
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (CPU_ISSET(cpu, &allowed)) {
        cores.push_back(cpu);
      }
    }
  }
  if (cores.empty()) {
    return {0};
  }
  if (cores.size() > 2) {
    cores.erase(cores.begin());
  }
  if (cores.size() > cores_max) {
    cores.resize(cores_max);
  }
  return cores;
}

}  // namespace tributary::control
