// SPDX-License-Identifier: BSD-3-Clause
#include "generate.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "dataplane/device_arguments.h"
#include "dataplane/launch.h"
#include "exit_codes.h"
#include "failure.h"
#include "packet_loop.h"
#include "ports.h"
#include "report.h"
#include "signals.h"
#include "verdict.h"

namespace tributary::pktgen {
namespace {

using Reports = std::vector<std::unique_ptr<Report>>;

constexpr std::chrono::milliseconds tick{20};
constexpr std::chrono::milliseconds loop_timeout{500};

Ports::Setup setup_of(const Options& options) {
  return {options.core, options.conditions.mtu, options.buffers,
          options.idle, options.hugepages,      options.devices};
}

// A Watch is the control thread's side of a run.
class Watch {
 public:
  Watch(const Options& options, const Ports& ports, PacketLoop& loop, Reports& reports)
      : options_(options), ports_(ports), loop_(loop), reports_(reports) {}

  // Returns when the loop is done.
  void run() {
    auto due = start_ + options_.interval;
    while (!loop_.done()) {
      std::this_thread::sleep_for(tick);
      if (apps::is_stop_requested() && !stopped_) {
        stopped_ = ask([this](Time now) { loop_.session().stop(now); });
      }
      revive_ports();
      if (std::chrono::steady_clock::now() >= due) {
        due += options_.interval;
        refresh();
      }
    }
  }

  // Returns those of the trials that are over that were not reported yet.
  std::span<const traffic::TrialResult> unreported(
      const std::vector<traffic::TrialResult>& trials) const {
    return std::span(trials).subspan(reported_);
  }
  void report_trials(std::span<const traffic::TrialResult> unreported) {
    const double now = seconds();
    for (const auto& trial : unreported) {
      ++reported_;
      for (const auto& report : reports_) {
        report->trial(trial, reported_, now);
      }
    }
  }

 private:
  double seconds() const { return in_seconds(std::chrono::steady_clock::now() - start_); }
  bool ask(const dataplane::Mailbox::Action& action) {
    return loop_.mailbox().run(action, loop_timeout);
  }

  // Servers of memifs may come back; no core touches the device while it is connected again.
  void revive_ports() {
    paused_told_.resize(ports_.devices().size(), true);
    for (std::size_t port = 0; port < ports_.devices().size(); ++port) {
      auto& device = *ports_.devices()[port];
      if (!device.can_reconnect() && paused_told_[port]) {
        continue;
      }
      const auto pause = [&](bool paused) {
        return ask([&](Time) { device.queue(0).pause(paused); });
      };
      if (device.can_reconnect() && pause(true)) {
        device.reconnect();
      }
      paused_told_[port] = pause(!device.started());  // or the next time
    }
  }

  void refresh() {
    Reading reading;
    std::vector<traffic::TrialResult> trials;
    const bool told = ask([&](Time now) {
      reading.view = loop_.session().view(now);
      reading.ports = loop_.counters();
      const auto fresh = unreported(loop_.session().trials());
      trials.assign(fresh.begin(), fresh.end());
    });
    if (!told) {
      return;  // the run is over, or its core is busy with something else
    }
    report_trials(trials);
    reading.ports = with_losses(std::move(reading.ports), ports_.devices());
    reading.seconds = seconds();
    for (const auto& report : reports_) {
      report->refresh(reading);
    }
  }

  const Options& options_;
  const Ports& ports_;
  PacketLoop& loop_;
  Reports& reports_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::size_t reported_ = 0;
  std::vector<bool> paused_told_;  // by port: the loop knows whether to leave the device alone
  bool stopped_ = false;
};

void settle(Duration duration) {
  const auto end = std::chrono::steady_clock::now() + duration;
  while (std::chrono::steady_clock::now() < end && !apps::is_stop_requested()) {
    std::this_thread::sleep_for(tick);
  }
}

int run_loop(void* loop) {
  static_cast<PacketLoop*>(loop)->run();
  return 0;
}

bool expects_answers(const Options& options) {
  return !options.send_only &&
         std::any_of(options.devices.begin(), options.devices.end(), receives);
}

int report_end(const Options& options, const traffic::Session& session,
               std::vector<PortCounters> ports, const Reports& reports) {
  Outcome outcome;
  outcome.trials = session.trials();
  outcome.best = session.search() && !session.error() ? session.search()->best() : nullptr;
  outcome.ports = std::move(ports);
  for (const auto& device : options.devices) {
    outcome.port_names.push_back(dataplane::describe(device));
  }
  std::optional<std::string> unwritten;
  for (const auto& report : reports) {
    if (const auto written = report->end(outcome); !written) {
      unwritten = written.error();
    }
  }
  if (session.error()) {
    return fail(*session.error());
  }
  if (unwritten) {
    return fail(*unwritten);
  }
  if (const auto failure = failure_of(outcome.trials, expects_answers(options),
                                      options.session.search.has_value())) {
    return fail(*failure);
  }
  const bool nothing_found = options.session.search && outcome.best == nullptr;
  return nothing_found ? apps::exit_failed : 0;
}

}  // namespace

int generate(const Options& options) {
  auto reports = make_reports(options);
  if (!reports) {
    return fail(reports.error());
  }
  apps::catch_signals();
  const auto ports = Ports::open(setup_of(options));
  if (!ports) {
    return fail(ports.error());
  }
  if (const auto linked = ports->wait_for_links(apps::is_stop_requested); !linked) {
    return fail(linked.error());
  }
  settle(options.settle);
  dataplane::MbufPool pool(ports->mempool());
  const traffic::Stations stations(options.conditions.stations);
  traffic::Neighbours neighbours(stations, pool);
  const auto traffic = options.kind->make(stations, neighbours, pool);
  traffic::Session session(options.session, neighbours, *traffic, options.kind->edge(stations));
  PacketLoop loop(session, ports->devices(), pool, options.idle);
  Watch watch(options, *ports, loop, *reports);
  dataplane::launch_on_core(0, run_loop, &loop);
  watch.run();
  dataplane::wait_for_core(0);
  watch.report_trials(watch.unreported(session.trials()));
  return report_end(options, session, with_losses(loop.counters(), ports->devices()), *reports);
}

}  // namespace tributary::pktgen
