// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "protocols/flare/host/window.h"

namespace tributary::host {

// Which blocks have no result, by their numbers in the run, where the window's begin with `first`:
// "block 23", "blocks 23, 26, 27, 28 and 2 more".
std::string missing_blocks(const FlareWindow& window, std::uint64_t first);

// Why a tree may have given no results: what to look for on the switches, of dense blocks ...
std::string likely_cause(const FlareWindow& window);
// ... and of sparse ones, whose opening had a result.
std::string likely_cause_of_sparse(const FlareWindow& window);

}  // namespace tributary::host
