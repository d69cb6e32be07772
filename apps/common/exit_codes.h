// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace tributary::apps {

// The programs that generate and measure end with these; tributaryctl distinguishes more.
inline constexpr int exit_failed = 1;
inline constexpr int exit_usage = 2;

}  // namespace tributary::apps
