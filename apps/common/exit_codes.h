// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::apps {

// Of the programs that generate and measure; tributaryctl distinguishes more.
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

}  // namespace tributary::apps
