// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary::host {

// Says what became of a packet that a machine was handed.
enum class Verdict : std::uint8_t {
  taken,
  malformed,  // not a sound packet of the protocol
  foreign,    // of another job or rank, or not for hosts
  stale,      // of an earlier collective or run
  duplicate,  // of something that is done
  mismatch,   // type, operator, length or number of ranks differ
  early,      // too far ahead of this rank
};

}  // namespace tributary::host
