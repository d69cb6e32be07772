// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "host/call.h"
#include "host/error.h"
#include "host/job.h"

namespace tributary::host {

// Does what one rank does with a link to reduce, one collective after the other. It does no I/O:
// whoever moves the link tells it what came.
class Flow {
 public:
  Flow() = default;
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;
  virtual ~Flow() = default;

  // Starts a collective. Afterwards `in` is needed until running() is false.
  virtual Result<void> begin(const Call& call) = 0;
  // Another rank may have made this call, which was refused here: what comes of it must not be
  // taken for part of the next one.
  virtual void skip(const Call& call) = 0;
  // Ends the collective, and with it all that could follow.
  virtual void abandon(const std::string& why) = 0;

  // Takes the next message of the rank before, which lies in its slot. May post others.
  virtual Result<void> arrived(std::uint32_t message, std::uint32_t bytes) = 0;
  // Learns that the next rank has so many messages, counted from the first. May post others.
  virtual Result<void> acknowledged(std::uint32_t messages) = 0;

  virtual bool running() const = 0;
  virtual std::uint32_t messages_posted() const = 0;
  // Says what a collective that is not over waits for.
  virtual std::string diagnose() const = 0;

  virtual const Job& job() const = 0;
  virtual const Call& call() const = 0;  // the last one
};

}  // namespace tributary::host
