// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/engine.h"
#include "protocols/panama/engine/tree.h"
#include "protocols/panama/wire.h"

namespace tributary::panama {

// What is done with a packet by its header before that is checked. It changes nothing but the time
// that a packet takes.

// The tree that the header names; null: it is not here. Its row is fetched from memory.
Tree* locate(const TreeTable& trees, const engine::Frame& frame);
// The row tells where the elements are.
void prefetch_elements(Tree* tree, const engine::Frame& frame);

// The row that gathers, and that the packet is a sound contribution to, which its child has not
// made yet; only whether it fits is to be seen. Most packets have one, and repeat what the first
// one said that was checked: only what is particular to this one is checked here. Null: it may be
// whatever else.
Row* row_to_join(const engine::Arrival& arrival, Tree& tree);

// Whether `next` says the same of its row as the header that the row got from its first
// contribution: it differs in who sent it, and in what he adds, only.
bool repeats(const wire::PanamaHeader& next, const wire::PanamaHeader& first);

}  // namespace tributary::panama
