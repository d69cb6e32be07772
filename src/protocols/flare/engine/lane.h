// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "engine/engine.h"
#include "protocols/flare/engine/slot.h"
#include "protocols/flare/engine/tree.h"
#include "protocols/flare/wire.h"

namespace tributary::flare {

// Returns whether a packet, which has come to that slot, is a sound contribution to the block that
// gathers there, which its child has not made yet; only whether it fits is to be seen. Most packets
// are, and repeat what the block's first one said, which was checked: only what is particular to
// this one is checked here. It may be whatever else otherwise.
bool joins(const engine::Arrival& arrival, const Tree& tree, const Slot& slot);

// Returns whether `next` says the same of its block as the header that the slot got from the first
// contribution: it differs only in who sent it, in what he adds, and in whether he did so before.
bool repeats(const wire::FlareHeader& next, const wire::FlareHeader& first);

}  // namespace tributary::flare
