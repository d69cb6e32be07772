// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

namespace tributary::dataplane {

// Runs `run(what)` on packet core `index` of the configuration that the EAL was started with.
void launch_on_core(std::size_t index, int (*run)(void*), void* what);
// Waits until it has returned.
void wait_for_core(std::size_t index);

}  // namespace tributary::dataplane
