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

// One rank's part in the collectives of one job, one after the other, by some protocol. Without
// I/O: a machine is handed datagrams, in bursts, and the time, and says what is to be sent.
class Machine {
 public:
  Machine() = default;
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;
  virtual ~Machine() = default;

  // Starts a collective. The buffers stay alive, and `in` unchanged, until running() is false and
  // the driver has sent all that it took from the outbox. After a failure `out` is undefined.
  virtual void begin(const Call& call, Time now, const Deadline& deadline) = 0;
  // Another rank may have made this call, which here was refused: what comes of it is not taken for
  // part of the next one.
  virtual void skip(const Call& call) = 0;
  // The driver failed: the collective ends here.
  virtual void abandon() = 0;

  // Datagrams as they came: checked here. Allowed between collectives, too.
  virtual void receive(std::span<const Arrival> burst, Time now) = 0;
  // Puts what may be sent now into `outbox`, as far as it has room. Payloads lie in the caller's
  // buffers or in this object.
  virtual void poll(Outbox& outbox, Time now) = 0;
  // When expire() has something to do, giving the collective up by its deadline included. Then
  // poll() may have something to send.
  virtual Time deadline() const = 0;
  virtual void expire(Time now) = 0;

  virtual bool running() const = 0;
  // Whether other ranks may still ask for something of a collective that is over: until it is
  // false, somebody has to go on handing over datagrams and polling.
  virtual bool retaining() const = 0;
  // Whether datagrams have to be handed over between collectives, as they come.
  virtual bool listening() const { return retaining(); }
  // Why the last collective failed, if it did.
  const std::optional<Error>& failure() const { return failure_; }

  virtual const Job& job() const = 0;
  // Of the driver, to be put into the error message: why datagrams could not be sent.
  void note_trouble(std::string trouble) { trouble_ = std::move(trouble); }

 protected:
  // A collective begins.
  void forget_failure() {
    failure_.reset();
    trouble_.clear();
  }
  // Behind what is said of a collective that failed.
  std::string with_trouble(std::string text) const {
    return trouble_.empty() ? text : std::move(text) + "; " + trouble_;
  }

  std::optional<Error> failure_;

 private:
  std::string trouble_;
};

}  // namespace tributary::host
