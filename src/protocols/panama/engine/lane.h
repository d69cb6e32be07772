// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/engine.h"
#include "protocols/panama/engine/tree.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

// These act on a packet by its header before that is checked. They change nothing but the time that
// a packet takes.

// Returns the tree that the header names; null if it is not here. Its row is fetched from memory.
Tree* locate(const TreeTable& trees, const engine::Frame& frame);
// Fetches the elements, of which the row tells where they are.
void prefetch_elements(Tree* tree, const engine::Frame& frame);

// Returns the row that gathers, and that the packet is a sound contribution to, which its child has
// not made yet; only its mask, if it has one, and whether it fits are to be seen. Most packets have
// such a row, and repeat what its first one said, which was checked: only what is particular to
// this one is checked here. Returns null if it may be whatever else.
Row* row_to_join(const engine::Arrival& arrival, Tree& tree);

// Returns whether `next` says the same of its row as the header that the row got from its first
// contribution: it differs only in who sent it, and in what he adds.
bool repeats(const wire::PanamaHeader& next, const wire::PanamaHeader& first);

}  // namespace tributary::panama
