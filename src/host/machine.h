// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "host/call.h"
#include "host/clock.h"
#include "host/datagram.h"
#include "host/deadline.h"
#include "host/error.h"
#include "host/job.h"
#include "host/outbox.h"

namespace tributary::host {

// One rank's part in the collectives of one job, one after the other, by some protocol. A machine
// does no I/O: it is handed datagrams, in bursts, and the time, and says what is to be sent.
class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  // Starts a collective. The buffers stay alive, and `in` unchanged, until running() is false and
  // the driver has sent all that it took from the outbox. After a failure `out` is undefined.
  virtual void begin(const Call& call, Time now, const Deadline& deadline) = 0;
  // Counts a call that was refused here, but that another rank may have made, so that nothing of it
  // is taken for part of the next one.
  virtual void skip(const Call& call) = 0;
  // Ends the collective, as the driver has failed.
  virtual void abandon() = 0;

  // Checks and takes datagrams as they came, also between collectives.
  virtual void receive(std::span<const Arrival> burst, Time now) = 0;
  // Puts what may be sent now into `outbox`, as far as it has room. Payloads lie in the caller's
  // buffers or in this object.
  virtual void poll(Outbox& outbox, Time now) = 0;
  // Returns when expire() has something to do, which may be to give the collective up by its
  // deadline. After expire(), poll() may have something to send.
  virtual Time deadline() const = 0;
  virtual void expire(Time now) = 0;

  virtual bool running() const = 0;
  // Tells whether other ranks may still ask for something of a collective that is over. While they
  // may, somebody has to go on handing over datagrams and polling.
  virtual bool retaining() const = 0;
  // Tells whether datagrams have to be handed over between collectives, as they come.
  virtual bool listening() const { return retaining(); }
  // Tells why the last collective failed, if it did.
  const std::optional<Error>& failure() const { return failure_; }

  virtual const Job& job() const = 0;
  // Notes why the driver could not send datagrams, for the error message.
  void note_trouble(std::string trouble) { trouble_ = std::move(trouble); }

 protected:
  // Is called when a collective begins.
  void forget_failure() {
    failure_.reset();
    trouble_.clear();
  }
  // Returns the text about a failed collective, with the driver's trouble behind it.
  std::string with_trouble(std::string text) const {
    return trouble_.empty() ? text : std::move(text) + "; " + trouble_;
  }

  std::optional<Error> failure_;

 private:
  std::string trouble_;
};

}  // namespace tributary::host
