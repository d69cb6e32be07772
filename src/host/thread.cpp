// SPDX-License-Identifier: BSD-3-Clause
#include "host/thread.h"

#include <csignal>
#include <pthread.h>
#include <string>
#include <system_error>
#include <utility>

namespace tributary::host {

Result<std::thread> start_thread(std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread> started;
  try {
    started = std::thread(std::move(body));
  } catch (const std::system_error& error) {
    started =
        fail(Error::Code::internal,
             std::string("no thread can be started (") + error.what() +
                 "): allow this user, or the container, more processes (ulimit -u, pids.max)");
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

}  // namespace tributary::host
