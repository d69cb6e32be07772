// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "control/tree_support.h"

namespace tributary::netreduce {

struct RingConfig;

// Whether what two switches have are parts of the same ring.
bool are_one_ring(const RingConfig& a, const RingConfig& b);

// How switches take the ring of a job from a controller. The ring's id is the job's. Over several
// racks its switches are a tree (section 3.3 of the paper): a leaf for each rack, and switches
// above.
extern const control::TreeSupport ring_support;

}  // namespace tributary::netreduce
