// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/tree_support.h"

namespace tributary::panama {

// Lets switches take PANAMA's trees from a controller (section 3 of the paper).
extern const control::TreeSupport tree_support;

}  // namespace tributary::panama
