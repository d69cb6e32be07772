// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "host/call.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/job.h"

namespace tributary::host {

// Carries out the collectives of one job, one after the other, by some protocol over some network.
class Runner {
 public:
  Runner() = default;
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;
  virtual ~Runner() = default;

  // Returns when the collective is over; the buffers are not needed any more.
  virtual Result<void> run(const Call& call, Deadline until) = 0;
  // Counts a call that was refused here.
  virtual void skip(const Call& call) = 0;
  // Tells whether other ranks may still ask for something of a collective that is over.
  virtual bool retaining() = 0;
  virtual const Job& job() const = 0;
};

}  // namespace tributary::host
