// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "host/communicator.h"
#include "host/parallel/parallel_communicator.h"
#include "options.h"
#include "sample.h"

namespace tributary::bench {

// A row is measured by a Way: an algorithm of the communicator, or a hierarchy beside it.
struct Way {
  std::string algorithm;
  ParallelCommunicator* parallel = nullptr;

  std::string_view name() const {
    return parallel != nullptr ? tributary::name(parallel->hierarchy()) : algorithm;
  }
};

// A Task is a row that is measured on this rank, together with all others.
struct Task {
  Communicator& communicator;
  const Options& options;
  const Way& way;
  const Problem& problem;
  const Sample* sample;  // as sample_of() makes it
};

}  // namespace tributary::bench
