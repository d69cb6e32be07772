// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "host/call.h"
#include "host/error.h"

namespace tributary::host {

// A collective that another one is made of. Its buffers are those of whoever has made it, and hold
// the result when the next one is asked for.
struct Step {
  Call call;
  bool by_ring = false;  // goes by the hosts' ring, whatever carries the others
  bool needed = true;    // otherwise it is left out, and only counted, on all ranks alike
};

// The collectives that one is made of, one after the other, as all ranks carry them out. Steps do
// no I/O: whoever drives them carries each out before asking for the next.
class Steps {
 public:
  // Returns the next step, after the one before was carried out or left out; nothing after the
  // last, when the result is there.
  virtual std::optional<Step> next() = 0;
  // Is called when a step has failed, or the call was refused: those that follow are to be left
  // out, and nothing that the caller gave is looked at any more.
  void give_up() { given_up_ = true; }
  // Returns, after steps that were all carried out, why there is no result, on all ranks alike.
  virtual Result<void> outcome() const { return {}; }

 protected:
  ~Steps() = default;
  bool given_up() const { return given_up_; }

 private:
  bool given_up_ = false;
};

}  // namespace tributary::host
