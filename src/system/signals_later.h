// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>
#include <pthread.h>

namespace tributary {

// SIGINT and SIGTERM that come meanwhile take effect afterwards: what is done in steps is done
// whole. A program that is executed has to have them again: see none().
class SignalsLater {
 public:
  SignalsLater() {
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, &before_);
  }
  ~SignalsLater() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsLater(const SignalsLater&) = delete;
  SignalsLater& operator=(const SignalsLater&) = delete;

  // Puts nothing off in this process any more; for a child, before it executes a program.
  static void none() {
    sigset_t nothing;
    sigemptyset(&nothing);
    sigprocmask(SIG_SETMASK, &nothing, nullptr);
  }

 private:
  sigset_t before_;
};

}  // namespace tributary
