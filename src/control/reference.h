// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tributary::control {

// Writes every option of a configuration, with its default, its range, and whether a reload takes
// it, the counters of ports, and all drop reasons. These are tables of Markdown, of which
// docs/reference is made.
std::string reference_text();

}  // namespace tributary::control
