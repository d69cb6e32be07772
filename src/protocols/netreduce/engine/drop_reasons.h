// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "protocols/drop_reasons.h"

// The engine drops packets for these reasons.
#define TRIBUTARY_NETREDUCE_DROP_REASONS(X)             \
  X(icrc, "gradient damaged on the way")                \
  X(malformed, "impossible field, or not of the ring")  \
  X(mismatch, "other type, operator or length")         \
  X(not_member, "not from the rank to the next")        \
  X(rank_taken, "the rank sends by another connection") \
  X(stale_run, "of a run that is over")                 \
  X(first_lost, "the message's first packet did not come")

namespace tributary::netreduce {

TRIBUTARY_PROTOCOL_DROP_REASONS(netreduce, TRIBUTARY_NETREDUCE_DROP_REASONS)

}  // namespace tributary::netreduce
