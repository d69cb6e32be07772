// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include "host/clock.h"
#include "host/communicator_options.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/ring/ring.h"
#include "host/runner.h"
#include "host/tuning/cost_table.h"

namespace tributary::host::tuning {

// Tells whether hosts double at all. The parameters of the options are checked, here and below.
bool may_double(const CommunicatorOptions& options);
// Returns how long measuring may take by these options; 0: it is off.
Duration time_allowed(const CommunicatorOptions& options);

// Has what ranks measured together. It is the same on all of them, but for the text.
struct Measurement {
  CostTable costs;
  Duration taken{};  // what measuring took; 0: nothing was measured
  // Says why nothing counts: the carrier failed in a trial, for some rank. Empty: it did not.
  std::string failure{};
  // "8 B: canary 0.210 ms, doubling 0.104 ms; 4 KiB: ..."
  std::string text(std::string_view carrier) const;
};

// Has all ranks carry out the same allreduces by each means, from short to long vectors, until the
// least time that one of them allows is used up. After each size of each means they tell each other
// over the ring how long it took, and whether it went well: from these numbers, which all have,
// follows what is done next. Where the carrier fails, it is over. When it returns the ring doubles
// as it did before.
Result<Measurement> measure(Runner& carrier, Ring& ring, Duration allowed, const Deadline& until);

}  // namespace tributary::host::tuning
