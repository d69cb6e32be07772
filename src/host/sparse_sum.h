// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "host/sparse_part.h"
#include "host/sparse_vector.h"
#include "wire/element.h"

namespace tributary::host {

// Returns the vector that these parts are, in their order: without its zeros, or dense where that
// is smaller. So its form does not depend on how the parts came to be.
SparseElements joined(std::span<const SparsePart> parts, std::size_t count, wire::ElementType type);

}  // namespace tributary::host
