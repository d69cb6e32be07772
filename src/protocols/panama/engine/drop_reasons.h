// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "protocols/drop_reasons.h"

// The engine drops packets for these reasons.
#define TRIBUTARY_PANAMA_DROP_REASONS(X)                       \
  X(truncated, "shorter than header and elements")             \
  X(oversized, "longer than header and elements")              \
  X(version, "version of the header")                          \
  X(malformed, "impossible field, or not to the tree's group") \
  X(crc, "damaged on the way")                                 \
  X(no_tree, "tree that is not installed here")                \
  X(wrong_port, "the tree does not come in by this port")      \
  X(mismatch, "same VID, other type, operator, length, FIN")   \
  X(overcount, "more contributions than workers below")        \
  X(duplicate, "that came here before")                        \
  X(late, "the sum had gone without it")                       \
  X(stale, "of an epoch or a VID that is past")                \
  X(over_cap, "beyond the memory that the tree has")           \
  X(overlap, "ranks that the sum has already")

namespace tributary::panama {

TRIBUTARY_PROTOCOL_DROP_REASONS(panama, TRIBUTARY_PANAMA_DROP_REASONS)
static_assert(protocols::begin_as_parse_errors(drop::reasons));

}  // namespace tributary::panama
