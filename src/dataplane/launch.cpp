// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/launch.h"

#include <rte_launch.h>

namespace tributary::dataplane {
namespace {

// Returns the EAL's number of packet core `index`; 0 is the control thread.
unsigned lcore_of(std::size_t index) {
  return static_cast<unsigned>(index) + 1;
}

}  // namespace

void launch_on_core(std::size_t index, int (*run)(void*), void* what) {
  rte_eal_remote_launch(run, what, lcore_of(index));
}

void wait_for_core(std::size_t index) {
  rte_eal_wait_lcore(lcore_of(index));
}

}  // namespace tributary::dataplane
