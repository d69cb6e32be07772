// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "packet/clock.h"
#include "packet/fate.h"
#include "protocols/panama/engine/incoming.h"

namespace tributary::panama {

// Which contributions may wait for others; the memory for that is each tree's Grant.

// Why one cannot wait there, be it with others; no value if it can.
std::optional<DropReason> refusal(const Incoming& in, const Place& at);

// Not further on than anything may wait.
bool is_in_span(const Tree& tree, std::uint64_t position);

// What waits may keep out what it waits for: the lowest VIDs of some, the others' higher ones.
// Where senders obey a grant that is not known here any more, that can happen. It has not where the
// sender repeats something before `position`, too, that waits here: others owe it that first.
bool is_stuck(const Incoming& in, std::uint64_t position, Time now);
// What the sender sends again waits here from now on, or did before.
void note_repeat(const Incoming& in, const Row& row);

// The sum of a switch below takes the place of the one before, which waits: it has more workers in
// it (section 7).
bool replaces(const Incoming& in, const Row& row);

// The worker came after the sum had gone, but before its result, and fits a sum with more in it.
bool can_add_late(const Incoming& in, const Row& row);

}  // namespace tributary::panama
