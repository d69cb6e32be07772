// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <cstdio>
#include <utility>

#include <CLI/CLI.hpp>

#include "decimal.h"
#include "exit_codes.h"
#include "options_raw.h"
#include "port_spec.h"
#include "real_range.h"
#include "reference.h"
#include "report.h"
#include "unknown_command.h"

namespace tributary::pktgen {
namespace {

using traffic::Mode;

void declare_mtu(CLI::App& app, Options& options) {
  app.add_option("--mtu", options.conditions.mtu, "bytes of IP in a packet")
      ->type_name("BYTES")
      ->check(CLI::Range(control::mtu_min, control::mtu_max))
      ->capture_default_str();
}

void declare_log_level(CLI::App& app, std::string& level, const std::string& help) {
  app.add_option("--log-level", level, help)
      ->check(CLI::IsMember({"debug", "info", "warning", "error", "off"}))
      ->capture_default_str();
}

void declare_duration(CLI::App& app, const std::string& name, std::string& text,
                      const std::string& help) {
  app.add_option(name, text, help)->type_name("DURATION")->capture_default_str();
}

void declare_ports(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--port", raw.ports,
                 "a port (see below), once for each, up to " + std::to_string(control::devices_max))
      ->required()
      ->type_name("KIND=WHAT,...");
  declare_mtu(app, options);
  app.add_option("--core", raw.core, "CPU of the packet loop")
      ->type_name("CPU")
      ->default_str("the last of those that a daemon takes by itself");
  app.add_option("--buffers", options.buffers, "packet buffers")
      ->type_name("N")
      ->check(CLI::Range(1024u, traffic::buffers_max))
      ->default_str("what is in flight needs");
  app.add_option("--idle", raw.idle,
                 "adaptive: the packet loop sleeps while nothing happens; poll: never")
      ->check(CLI::IsMember({"adaptive", "poll"}))
      ->capture_default_str();
  app.add_option("--hugepages", raw.hugepages,
                 "whether buffers are in huge pages; auto: if there are free ones")
      ->check(CLI::IsMember({"auto", "never", "always"}))
      ->capture_default_str();
  options.log_level = "warning";
  declare_log_level(app, options.log_level, "what DPDK logs");
}

void declare_report(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--json", options.json, "writes the results as JSON; - is standard output")
      ->type_name("FILE");
  app.add_option("--csv", options.csv,
                 "writes a row per interval, and one for each trial; - is standard output")
      ->type_name("FILE");
  declare_duration(app, "--interval", raw.interval,
                   "time between two refreshes of the screen, at least 100ms");
  app.add_flag("--quiet,-q", options.quiet, "prints the summary alone");
}

void declare_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option(
         "--rate", raw.rate,
         "of what all ports together send of their own accord: 1.5Mpps, 800Mbit (on the line), "
         "50% (of the --line-rate of each port) or unlimited")
      ->capture_default_str();
  app.add_option("--line-rate", raw.line_rate, "of the line of each port, as in 10Gbit");
  declare_duration(app, "--warm-up", raw.warm_up, "time at the same rate that does not count");
  declare_duration(app, "--settle", raw.settle,
                   "how long switches may take to see that their links are up, before it begins");
  declare_duration(app, "--drain", raw.drain, "how long to wait for what is under way at the end");
  if (options.mode() == Mode::run) {
    declare_duration(app, "--duration", raw.duration, "the run ends after so long");
    app.add_option("--count", options.session.trial.packets,
                   "the run ends after so many packets, if that is earlier")
        ->type_name("N")
        ->check(CLI::PositiveNumber);
    app.add_flag("--send-only", options.send_only,
                 "it is no failure if little or nothing comes back");
    return;
  }
  declare_duration(app, "--trial", raw.duration, "how long each trial sends");
  app.add_option("--precision", raw.precision,
                 "percent of the highest rate to which the result is found")
      ->type_name("PERCENT")
      ->check(apps::real_range(0.01, 50.0))
      ->capture_default_str();
  if (options.mode() == Mode::pdr) {
    app.add_option("--loss", raw.loss, "percent that may be lost")
        ->type_name("PERCENT")
        ->check(apps::real_range(0.0001, 50.0))
        ->capture_default_str();
  }
}

void declare_pcap(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--file", options.pcap_file, "file that is written")
      ->required()
      ->type_name("FILE");
  app.add_option("--address", raw.address,
                 "IP address of the first host, of either version; others count up");
  app.add_option("--mac", raw.mac, "MAC address of the first host; others count up");
  app.add_option("--gateway-mac", raw.gateway_mac,
                 "MAC address of the switch's port, if it routes");
  declare_mtu(app, options);
}

void declare_feed(CLI::App& app, RawFeed& raw, FeedOptions& options) {
  app.add_option("--config,-c", options.config,
                 "configuration of tributaryd; ports with pcap = { rx = ..., infinite = "
                 "true } are fed")
      ->required()
      ->type_name("FILE");
  app.add_option("--core", options.core, "CPU of the feeder")
      ->type_name("CPU")
      ->default_str("the last that is no packet core");
  app.add_option("--descriptors", options.descriptors,
                 "descriptors by which each packet core receives, a power of two")
      ->type_name("N")
      ->check(CLI::Range(64u, 16384u))
      ->capture_default_str();
  declare_duration(app, "--warm-up", raw.warm_up, "time that does not count");
  declare_duration(
      app, "--duration", raw.duration,
      "time that counts; repeated, up to 20 times, while the switch has received nothing");
  app.add_option("--json", options.json, "writes the results as JSON; - is standard output")
      ->type_name("FILE");
  declare_log_level(app, options.log_level, "what the switch and DPDK log");
}

struct Command {
  CLI::App* app = nullptr;
  Raw raw{};
  Options options{};
};

void declare(Command& command) {
  auto& [app, raw, options] = command;
  auto& group = *app->option_defaults();
  if (options.mode() == Mode::pcap) {
    group.group("Files");
    declare_pcap(*app, raw, options);
  } else {
    group.group("Ports, CPU and memory");
    declare_ports(*app, raw, options);
    group.group("Rate and time");
    declare_run(*app, raw, options);
    group.group("Reports");
    declare_report(*app, raw, options);
    app->footer(port_help);
  }
  group.group(std::string("Options of ") + options.kind->name());
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
  apps::add_reference(app, "all commands and options", [&app] { return apps::reference_of(app); });
  app.footer(examples());
  app.require_subcommand(1);
  std::vector<Command> commands;
  const auto add_mode = [&](Mode mode, const char* about) {
    CLI::App& app_of_mode = *app.add_subcommand(name_of(mode), about);
    app_of_mode.require_subcommand(1);
    add_kinds(mode, app_of_mode, commands);
  };
  add_kinds(Mode::run, app, commands);
  add_mode(Mode::ndr, "Search the highest rate without loss (RFC 2544)");
  add_mode(Mode::pdr, "Search the highest rate with as much loss as --loss allows");
  add_mode(Mode::pcap, "Write traffic to a file, for a net_pcap port");
  RawFeed raw_feed;
  FeedOptions feed_options;
  auto* feed = app.add_subcommand("feed", "Measure a switch that is fed from files without a copy");
  feed->option_defaults()->group("Feed");
  declare_feed(*feed, raw_feed, feed_options);
  for (auto& command : commands) {
    declare(command);
  }
  try {
    apps::parse_decimal(app, argc, argv);
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
