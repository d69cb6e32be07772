// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace tributary::host {

// Has what the sketches of a communicator took on this rank, and what floats would have taken.
struct SketchBytes {
  std::uint64_t sent = 0;
  std::uint64_t of_floats = 0;
};

// Says what was saved: "sketches sent 12.3 MB in place of 49.2 MB (75.0 % saved)"; nothing if there
// were no sketches.
std::string text_of(const SketchBytes& bytes);

}  // namespace tributary::host
