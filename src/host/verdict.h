// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace tributary::host {

// What became of a packet that a machine was handed.
enum class Verdict : std::uint8_t {
  taken,
  malformed,
  foreign,
  stale,
  duplicate,
  mismatch,
  early,
};

}  // namespace tributary::host
