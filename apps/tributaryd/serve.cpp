// SPDX-License-Identifier: BSD-3-Clause
#include "serve.h"

#include <chrono>
#include <csignal>
#include <unistd.h>

#include <spdlog/spdlog.h>

#include "control/server.h"
#include "dataplane/dataplane.h"
#include "dataplane/interface.h"

namespace tributary::daemon {
namespace {

constexpr std::chrono::milliseconds tick{100};  // between two looks at links that say nothing
constexpr std::chrono::milliseconds drain_bound{500};

volatile std::sig_atomic_t signals_received = 0;

extern "C" void on_signal(int number) {
  if (signals_received > 0) {
    _exit(128 + number);
  }
  signals_received = 1;
}

void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

void log_ledgers(dataplane::Dataplane& dataplane) {
  const auto switches = dataplane.switches();
  if (!switches) {
    spdlog::warn("no ledgers: {}", switches.error());
    return;
  }
  for (const auto& row : *switches) {
    const auto& ledger = row.ledger;
    spdlog::info(
        "switch {}: received {} = forwarded {} + absorbed {} + dropped {}; "
        "originated {} = sent {} + lost {}",
        row.name, ledger.received, ledger.forwarded, ledger.absorbed, ledger.dropped(),
        ledger.originated, ledger.sent, ledger.lost());
  }
}

}  // namespace

int serve(const control::DaemonConfig& config) {
  std::signal(SIGPIPE, SIG_IGN);
  auto opened = dataplane::Dataplane::open(config, TRIBUTARY_VERSION);
  if (!opened) {
    spdlog::error("{}", opened.error());
    return 1;
  }
  auto& dataplane = **opened;
  control::ServerOptions options;
  options.socket = config.control_socket;
  options.group = config.control_group;
  dataplane::InterfaceEvents events;
  options.wake_fd = events.fd();
  auto server = control::Server::create(options, dataplane);
  if (!server) {
    spdlog::error("{}", server.error());
    return 1;
  }
  // Not before: a start that takes long, for its memory, ends at once.
  catch_signals();
  // Not before: another daemon may have these ports, and would see every packet forwarded twice.
  dataplane.launch();
  spdlog::info("tributaryd {}: switches {}, control socket {}", TRIBUTARY_VERSION,
               config.switches.size(), config.control_socket);
  while (signals_received == 0 && !dataplane.shutdown_requested()) {
    (*server)->run_once(tick);
    events.clear();
    dataplane.poll_links();
  }
  spdlog::info("draining");
  dataplane.drain(drain_bound);
  log_ledgers(dataplane);
  return 0;
}

}  // namespace tributary::daemon
