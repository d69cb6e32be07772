// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/tree_support.h"

namespace tributary::flare {

// Lets switches take reduction trees from the network manager (section 4 of the paper).
extern const control::TreeSupport tree_support;

}  // namespace tributary::flare
