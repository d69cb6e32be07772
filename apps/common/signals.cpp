// SPDX-License-Identifier: BSD-3-Clause
#include "signals.h"

#include <csignal>
#include <unistd.h>

namespace tributary::apps {
namespace {

volatile std::sig_atomic_t signals_received = 0;

extern "C" void on_signal(int number) {
  if (signals_received > 0) {
    _exit(128 + number);
  }
  signals_received = 1;
}

}  // namespace

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool is_stop_requested() {
  return signals_received != 0;
}

}  // namespace tributary::apps
