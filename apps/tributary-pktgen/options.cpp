// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>

#include "exit_codes.h"
#include "options_raw.h"
#include "port_spec.h"
#include "report.h"
#include "unknown_command.h"

namespace tributary::pktgen {
namespace {

using traffic::Mode;

void declare_ports(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--port", raw.ports, "a port; see below")->required()->type_name("KIND=WHAT,...");
  app.add_option("--mtu", options.conditions.mtu, "bytes of IP in a packet")
      ->check(CLI::Range(control::mtu_min, control::mtu_max))
      ->capture_default_str();
  app.add_option("--core", raw.core, "CPU of the packet loop; default: the last one that is free");
  app.add_option("--buffers", options.buffers, "packet buffers; default: what is in flight needs")
      ->check(CLI::Range(1024u, traffic::buffers_max));
  app.add_option("--idle", raw.idle, "adaptive: sleep while nothing happens; poll: never sleep")
      ->check(CLI::IsMember({"adaptive", "poll"}))
      ->capture_default_str();
  app.add_option("--hugepages", raw.hugepages, "auto, never or always")
      ->check(CLI::IsMember({"auto", "never", "always"}))
      ->capture_default_str();
  options.log_level = "warning";
  app.add_option("--log-level", options.log_level, "of what DPDK says")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
}

void declare_report(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--json", options.json, "write the results as JSON; - is standard output")
      ->type_name("FILE");
  app.add_option("--csv", options.csv, "write a row per interval, and one for each trial")
      ->type_name("FILE");
  app.add_option("--interval", raw.interval, "between two refreshes of the screen")
      ->capture_default_str();
  app.add_flag("--quiet,-q", options.quiet, "only the summary");
}

void declare_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--rate", raw.rate,
                 "1.5Mpps, 800Mbit (on the line): of what all ports together send of their own "
                 "accord; 50%: of the --line-rate of each of them; unlimited")
      ->capture_default_str();
  app.add_option("--line-rate", raw.line_rate, "of a port, as in 10Gbit");
  app.add_option("--warm-up", raw.warm_up, "at the same rate, not counted")->capture_default_str();
  app.add_option("--settle", raw.settle,
                 "how long switches may take to see that their links are up, before it begins")
      ->capture_default_str();
  app.add_option("--drain", raw.drain, "how long to wait for what is under way at the end")
      ->capture_default_str();
  if (options.mode() == Mode::run) {
    app.add_option("--duration", raw.duration, "as in 500ms, 10s, 5min")->capture_default_str();
    app.add_option("--count", options.session.trial.packets,
                   "end after so many packets, if that is earlier")
        ->check(CLI::PositiveNumber);
    app.add_flag("--send-only", options.send_only,
                 "it is no failure if little or nothing comes back");
    return;
  }
  app.add_option("--trial", raw.duration, "duration of each trial")->capture_default_str();
  app.add_option("--precision", raw.precision, "of the result, in percent of the highest rate")
      ->check(CLI::Range(0.01, 50.0))
      ->capture_default_str();
  if (options.mode() == Mode::pdr) {
    app.add_option("--loss", raw.loss, "that is allowed, in percent")
        ->check(CLI::Range(0.0001, 50.0))
        ->capture_default_str();
  }
}

void declare_pcap(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--file", options.pcap_file, "to write")->required()->type_name("FILE");
  app.add_option("--address", raw.address, "of the first host; others count up");
  app.add_option("--mac", raw.mac, "of the first host; others count up");
  app.add_option("--gateway-mac", raw.gateway_mac, "of the switch's port, if it routes");
  app.add_option("--mtu", options.conditions.mtu, "bytes of IP in a packet")
      ->check(CLI::Range(control::mtu_min, control::mtu_max))
      ->capture_default_str();
}

void declare_feed(CLI::App& app, RawFeed& raw, FeedOptions& options) {
  app.add_option("--config,-c", options.config,
                 "of a switch, as tributaryd takes it; ports with pcap = { rx = ..., infinite = "
                 "true } are fed")
      ->required()
      ->type_name("FILE");
  app.add_option("--core", options.core, "CPU of the feeder; default: the last one that is free");
  app.add_option("--descriptors", options.descriptors, "that each packet core receives by")
      ->check(CLI::Range(64u, 16384u))
      ->capture_default_str();
  app.add_option("--warm-up", raw.warm_up, "not counted")->capture_default_str();
  app.add_option("--duration", raw.duration, "as in 500ms, 10s, 5min")->capture_default_str();
  app.add_option("--json", options.json, "write the results as JSON; - is standard output")
      ->type_name("FILE");
  app.add_option("--log-level", options.log_level, "of what the switch and DPDK say")
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
}

struct Command {
  CLI::App* app = nullptr;
  Raw raw{};
  Options options{};
};

void declare(Command& command) {
  auto& [app, raw, options] = command;
  if (options.mode() == Mode::pcap) {
    declare_pcap(*app, raw, options);
  } else {
    declare_ports(*app, raw, options);
    declare_run(*app, raw, options);
    declare_report(*app, raw, options);
    app->footer(port_help);
  }
  options.kind->declare(*app, options.mode());
}

// Adds a command for each kind of traffic.
void add_kinds(Mode mode, CLI::App& parent, std::vector<Command>& commands) {
  for (auto& kind : traffic::traffic_kinds()) {
    auto& command = commands.emplace_back();
    command.app = parent.add_subcommand(kind->name(), kind->about());
    command.options.conditions.mode = mode;
    command.options.kind = std::move(kind);
  }
}

// Tells what is wrong, or prints the help that was asked for, and returns the exit code.
int end(const CLI::App& app, const CLI::ParseError& error) {
  const auto unknown = apps::unknown_command(app);
  if (unknown && error.get_exit_code() != 0) {
    std::fprintf(stderr, "tributary-pktgen: %s\n", unknown->c_str());
    return apps::exit_usage;
  }
  return app.exit(error) == 0 ? 0 : apps::exit_usage;
}

// Returns the examples of all kinds of traffic in each mode.
std::string examples() {
  std::string text = "Examples:\n";
  for (const auto mode : {Mode::run, Mode::ndr, Mode::pdr, Mode::pcap}) {
    for (const auto& kind : traffic::traffic_kinds()) {
      if (const char* lines = kind->examples(mode)) {
        text += std::string(lines) + "\n\n";
      }
    }
  }
  return text + "--help-all shows the options of every kind of traffic.";
}

}  // namespace

Parsed parse(int argc, char** argv) {
  CLI::App app("Packet generator for plain and aggregation traffic.", "tributary-pktgen");
  app.set_version_flag("--version", "tributary-pktgen " TRIBUTARY_VERSION);
  app.set_help_all_flag("--help-all", "Print the help of all subcommands");
  app.footer(examples());
  app.require_subcommand(1);
  std::vector<Command> commands;
  const auto add_mode = [&](Mode mode, const char* about) {
    CLI::App& app_of_mode = *app.add_subcommand(name_of(mode), about);
    app_of_mode.require_subcommand(1);
    add_kinds(mode, app_of_mode, commands);
  };
  add_kinds(Mode::run, app, commands);
  add_mode(Mode::ndr, "Search the highest rate without loss");
  add_mode(Mode::pdr, "Search the highest rate with little loss");
  add_mode(Mode::pcap, "Write traffic to a file, for a net_pcap port");
  RawFeed raw_feed;
  FeedOptions feed_options;
  auto* feed = app.add_subcommand("feed", "Measure a switch that is fed from files without a copy");
  declare_feed(*feed, raw_feed, feed_options);
  for (auto& command : commands) {
    declare(command);
  }
  try {
    app.parse(argc, argv);
    if (feed->parsed()) {
      interpret(raw_feed, feed_options);
      return {std::nullopt, std::move(feed_options), 0};
    }
    for (auto& command : commands) {
      if (command.app->parsed()) {
        interpret(command.raw, command.options);
        return {std::move(command.options), std::nullopt, 0};
      }
    }
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, std::nullopt, end(app, error)};
  }
  return {std::nullopt, std::nullopt, apps::exit_usage};
}

}  // namespace tributary::pktgen
