// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "protocols/drop_reasons.h"

// The engine drops packets for these reasons.
#define TRIBUTARY_CANARY_DROP_REASONS(X)                    \
  X(truncated, "shorter than header and elements")          \
  X(oversized, "longer than header and elements")           \
  X(version, "version of the header")                       \
  X(malformed, "impossible field")                          \
  X(crc, "damaged on the way")                              \
  X(mismatch, "same block, other type, operator or length") \
  X(overcount, "more contributions than hosts")             \
  X(duplicate, "contribution that this child sent before")  \
  X(no_descriptor, "result for a block that is not held")   \
  X(bad_port, "restoration for a port that does not exist") \
  X(not_allowed, "the job may not speak on this port")      \
  X(not_served, "no engine configured on this switch")

namespace tributary::canary {

TRIBUTARY_PROTOCOL_DROP_REASONS(canary, TRIBUTARY_CANARY_DROP_REASONS)
static_assert(protocols::begin_as_parse_errors(drop::reasons));

}  // namespace tributary::canary
