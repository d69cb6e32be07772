// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>

namespace tributary::dataplane {

// Runs `action` on the thread on which DPDK's drivers are called when their devices have something
// to say, and waits for it. What tears a device down belongs there: memif shakes hands on that
// thread, and nothing keeps that and the end of the connection apart. Where DPDK can take no alarm,
// `action` runs on the calling thread.
void run_on_interrupt_thread(const std::function<void()>& action);

}  // namespace tributary::dataplane
