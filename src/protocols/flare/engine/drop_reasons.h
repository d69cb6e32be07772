// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "protocols/drop_reasons.h"

// The engine drops packets for these reasons.
#define TRIBUTARY_FLARE_DROP_REASONS(X)                                           \
  X(truncated, "shorter than header and elements")                                \
  X(oversized, "longer than header and elements")                                 \
  X(version, "version of the header")                                             \
  X(malformed, "impossible field, or not to the tree's group")                    \
  X(crc, "damaged on the way")                                                    \
  X(no_tree, "of a job whose tree is not installed here")                         \
  X(wrong_port, "the tree does not come in by this port")                         \
  X(mismatch, "other workers, window, elements or operator than those before it") \
  X(stale, "of a block of which everybody has the result")                        \
  X(stale_run, "of a run that is over, or not the one that goes on")              \
  X(duplicate, "that came here before")                                           \
  X(window, "too far on in its run to be in flight")                              \
  X(not_sparse, "sparse, for a tree that has no sparse blocks")                   \
  X(shard, "of a sparse block: not one of its contribution's shards")             \
  X(unasked, "a result from a child that was not asked for it")

namespace tributary::flare {

TRIBUTARY_PROTOCOL_DROP_REASONS(flare, TRIBUTARY_FLARE_DROP_REASONS)
static_assert(protocols::begin_as_parse_errors(drop::reasons));

}  // namespace tributary::flare
