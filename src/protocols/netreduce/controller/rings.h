// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/tree_support.h"

namespace tributary::netreduce {

struct RingConfig;

// Returns whether the parts that two switches have belong to the same ring.
bool are_one_ring(const RingConfig& a, const RingConfig& b);

// Lets switches take the ring of a job from a controller. The ring's id is the job's. If the ring
// spans several racks, its switches are a tree (section 3.3 of the paper): a leaf for each rack,
// and switches above.
extern const control::TreeSupport ring_support;

}  // namespace tributary::netreduce
