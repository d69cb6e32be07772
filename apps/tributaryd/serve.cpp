// SPDX-License-Identifier: BSD-3-Clause
#include "serve.h"

#include <chrono>
#include <csignal>
#include <cstdint>

#include <spdlog/spdlog.h>

#include "control/config_warnings.h"
#include "control/server.h"
#include "dataplane/dataplane.h"
#include "dataplane/interface.h"
#include "reduce/handlers/budget.h"
#include "signals.h"

namespace tributary::daemon {
namespace {

constexpr std::chrono::milliseconds tick{100};  // between two looks at links that say nothing
constexpr std::chrono::milliseconds drain_bound{500};

std::uint64_t nanoseconds_now() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
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
  for (const auto& warning : control::warnings_of(config)) {
    spdlog::warn("{}", warning);
  }
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
  // Signals are not caught before: one ends a start that takes long, to get its memory, at once.
  apps::catch_signals();
  reduce::measure_handlers(nanoseconds_now);
  // Nothing is forwarded before: another daemon may have these ports, and each packet would be
  // forwarded twice.
  dataplane.launch();
  spdlog::info("tributaryd {}: switches {}, control socket {}", TRIBUTARY_VERSION,
               config.switches.size(), config.control_socket);
  while (!apps::is_stop_requested() && !dataplane.shutdown_requested()) {
    (*server)->run_once(tick);
    events.clear();
    dataplane.poll_links();
    dataplane.poll_handlers();
  }
  spdlog::info("draining");
  dataplane.set_core_patience(drain_bound);  // a late core must not have us killed before the end
  dataplane.drain(drain_bound);
  log_ledgers(dataplane);
  return 0;
}

}  // namespace tributary::daemon
