// SPDX-License-Identifier: BSD-3-Clause
// Sums may lack ranks that are late, where a job allows that (PANAMA with a share below 1).
#pragma once

#include <cstdint>
#include <future>
#include <vector>

#include "host/c/tributary.h"

namespace tributary::pytorch {

// Elements of a sum, one behind the other, that lack so many ranks.
struct LackingRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
  int ranks = 0;
};
using Lacking = std::vector<LackingRange>;  // in the order of the elements

// Finds out what the sum of a request lacks when it ends, before the communicator carries anything
// else out. The answer may come after the request has ended; it is an error if nobody can tell.
// Throws if it cannot be asked; the request goes on.
std::future<Lacking> lacking_of(tributary_comm* comm, tributary_request* request);

}  // namespace tributary::pytorch
