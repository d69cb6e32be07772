// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "host/call.h"

namespace tributary::host {

// Calls that are carried out as one.
struct Batch {
  std::vector<std::size_t> calls;  // by their place
  std::size_t bytes = 0;           // of all of them
};

// Allreduces of one type and operator go together, up to so many bytes; whatever is larger, or
// another collective, or combined by a handler, goes alone. Where results are to be reproducible,
// sums and products of floats go alone, too: their bits depend on what they share a vector with.
// All of that follows from what is the same on all ranks.
std::vector<Batch> fuse(std::span<const Call> calls, std::size_t bytes_max,
                        bool reproducible = false);

// Returns one call for a batch of several, with their elements one behind the other in `buffer`.
Call gather(std::span<const Call> calls, const Batch& batch, std::vector<std::byte>& buffer);
// Copies the result to where each of the calls wants it.
void scatter(const std::vector<std::byte>& buffer, std::span<const Call> calls, const Batch& batch);

}  // namespace tributary::host
