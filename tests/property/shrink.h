// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "packet/pool.h"
#include "property/shape.h"

namespace tributary::test {

// Returns a simpler shape that fails as well, found by trying harmless and smaller values of one
// field after the other.
Shape shrink(const Shape& shape, HeapPacketPool& pool);

}  // namespace tributary::test
