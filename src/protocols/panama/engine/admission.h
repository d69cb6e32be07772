// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "packet/clock.h"
#include "packet/fate.h"
#include "protocols/panama/engine/incoming.h"

namespace tributary::panama {

// This decides which contributions may wait for others; the memory for that is each tree's Grant.

// Returns why a contribution cannot wait there, be it with others; no value if it can.
std::optional<DropReason> refusal(const Incoming& in, const Place& at);

// Returns whether the position is no further on than anything may wait.
inline bool is_in_span(const Tree& tree, std::uint64_t position) {
  return position < tree.expected + tree.span();
}

// Returns whether the tree is stuck: what waits may keep out what it waits for, the lowest VIDs of
// some the others' higher ones. That can happen where senders obey a grant that is not known here
// any more. It has not happened where the sender also repeats something before `position` that
// waits here: others owe it that first.
bool is_stuck(const Incoming& in, std::uint64_t position, Time now);
// Notes that what the sender sends again waits here, from now on or since before.
void note_repeat(const Incoming& in, const Row& row);

// Returns whether the sum of a switch below takes the place of the one before, which waits: it must
// have more workers in it (section 7).
bool replaces(const Incoming& in, const Row& row);

// Returns whether a contribution that came after the sum had gone, but before its result, fits a
// sum with more in it.
bool can_add_late(const Incoming& in, const Row& row);

}  // namespace tributary::panama
