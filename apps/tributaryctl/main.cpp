// SPDX-License-Identifier: BSD-3-Clause
// tributaryctl is an ordinary client of the control protocol.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>

#include "actions.h"
#include "control/config.h"
#include "doctor.h"
#include "fabric.h"
#include "handlers.h"
#include "lists.h"
#include "metrics.h"
#include "reference.h"
#include "relay.h"
#include "usage.h"
#include "wire/element.h"

namespace {

using namespace tributary::ctl;

// A CommandLine has everything the command line can say, and what is then to be done.
struct CommandLine {
  CLI::App app{"Looks into a running tributaryd, and steers it", "tributaryctl"};
  Options options;
  ListOptions list;
  FabricOptions fabric;
  HandlerOptions handler;
  bool all = false;
  bool force = false;
  std::string switch_name, port, level, file;
  double interval_s = 1;
  std::uint64_t count = 0;
  std::uint32_t job = 0;
  std::function<ExitCode()> run;

  CommandLine() {
    app.require_subcommand(1);
    app.fallthrough();  // global options are taken behind a subcommand too
    app.set_version_flag("--version", "tributaryctl " TRIBUTARY_VERSION);
    tributary::apps::add_reference(app, "all commands and options",
                                   [this] { return tributary::apps::reference_of(app); });
    app.add_option("--socket", options.socket, "Control socket of the daemon")
        ->envname("TRIBUTARY_SOCKET")
        ->type_name("PATH")
        ->capture_default_str();
    app.add_flag("-j,--json", options.json,
                 "Answers are JSON, errors too: {\"error\": {\"code\", \"message\", \"details\"}}");
    app.add_option("--timeout", options.timeout_s, "Seconds that an answer is waited for")
        ->type_name("SECONDS")
        ->check(seconds_between(0.001, 3600.0))
        ->capture_default_str();
    add_figures();
    add_lists();
    add_config();
    add_fabric();
    add_handlers();
    add_actions();
  }

  CLI::App* add(CLI::App& parent, const std::string& name, const std::string& help,
                std::function<ExitCode()> action) {
    CLI::App* const command = parent.add_subcommand(name, help);
    command->callback([this, action = std::move(action)] {
      if (!run) {  // the innermost subcommand comes first
        run = action;
      }
    });
    return command;
  }

  void add_list_options(CLI::App& command) {
    command.add_option("--switch", list.switch_name, "Only rows of this switch")->type_name("NAME");
    command.add_option("--limit", list.limit, "At most so many rows")
        ->type_name("N")
        ->check(whole_number().description(""))
        ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10000}))
        ->capture_default_str();
  }

  void add_lists() {
    for (const ListCommand& each : list_commands) {
      CLI::App* const command =
          add(app, each.name, each.help, [this, &each] { return show_list(options, each, list); });
      add_list_options(*command);
      if (each.name == std::string_view("port")) {
        command->require_subcommand(0, 1);
        add_port_state(*command, "up", "Lets a port take part again (administrative state)", true);
        add_port_state(*command, "down", "Takes a port out (administrative state)", false);
      } else if (each.name == std::string_view("tree")) {
        command->require_subcommand(0, 1);
        CLI::App* const remove =
            add(*command, "remove", "Takes a job's installed trees from one switch",
                [this] { return remove_trees(options, switch_name, job, force); });
        add_switch(*remove);
        remove->add_option("JOB", job, "Its number")->required()->check(whole_number());
        add_force(*remove, force);
      }
    }
    add_list_options(*add(app, "engine", "Figures of the aggregation engines, one in a row",
                          [this] { return show_engines(options, list); }));
    add_list_options(*add(app, "stalled",
                          "Blocks that have waited unusually long, and the ranks or ports that are "
                          "missing",
                          [this] { return show_stalled(options, list); }));
  }

  void add_port_state(CLI::App& parent, const char* name, const char* help, bool up) {
    CLI::App* const command =
        add(parent, name, help, [this, up] { return set_port(options, switch_name, port, up); });
    add_switch(*command);
    command->add_option("PORT", port, "Its name")->required();
  }

  void add_switch(CLI::App& command) {
    command.add_option("SWITCH", switch_name, "Name of the logical switch")->required();
  }

  // Says how often the command looks, and how long it waits between `what`.
  static void add_rounds(CLI::App& command, const std::string& what, double& interval_s,
                         std::uint64_t& count) {
    command.add_option("--interval", interval_s, "Seconds between " + what)
        ->type_name("SECONDS")
        ->check(seconds_between(0.05, 240.0))
        ->capture_default_str();
    command.add_option("--count", count, "How often; 0: until it is interrupted")
        ->type_name("N")
        ->check(whole_number())
        ->capture_default_str();
  }
  static void add_force(CLI::App& command, bool& force) {
    command.add_flag("--force", force, "Also trees that are in use");
  }

  void add_figures() {
    add(app, "status", "The daemon and its cores", [this] { return show_status(options); });
    add(app, "counters",
        "The account of every packet: received = forwarded + absorbed + dropped, for each switch, "
        "and whether it is balanced",
        [this] { return show_counters(options); });
    add(app, "drops", "Where packets were dropped, and why", [this] {
      return show_drops(options, all);
    })->add_flag("--all", all, "Also reasons that have not occurred");
    add(app, "metrics",
        "Counters and states of daemon, cores, ports, classes, engines and neighbours, and drops, "
        "in the text format of Prometheus; --json changes only how errors are told",
        [this] { return show_metrics(options); });
    CLI::App* const watching = add(app, "watch", "Rates per port, and what it loses",
                                   [this] { return watch(options, interval_s, count); });
    add_rounds(*watching, "tables, or lines of JSON", interval_s, count);
    add(app, "doctor", "What this host lacks, and the command that mends it; needs no daemon",
        [this] { return doctor(options); });
  }

  void add_config() {
    CLI::App* const config = app.add_subcommand("config", "Configuration files");
    config->require_subcommand(1);
    const auto with_file = [&](const char* name, const char* help,
                               ExitCode (*action)(const Options&, const std::string&)) {
      add(*config, name, help, [this, action] { return action(options, file); })
          ->add_option("FILE", file, "Configuration of a daemon (TOML)")
          ->required();
    };
    with_file("check", "Says what is wrong with a file; needs no daemon", check_config);
    with_file("diff",
              "How a file differs from what is in force, and whether a reload takes it or it needs "
              "a restart",
              diff_config);
    with_file("reload", "Puts a file in force, or changes nothing", reload_config);
  }

  void add_fabric() {
    CLI::App* const parent =
        app.add_subcommand("fabric", "Places aggregation trees over the switches of a fabric");
    parent->require_subcommand(1);
    const auto with_file = [&](const char* name, const char* help,
                               ExitCode (*action)(const Options&, const FabricOptions&)) {
      CLI::App* const command =
          add(*parent, name, help, [this, action] { return action(options, fabric); });
      command
          ->add_option("FABRIC", fabric.file, "File that describes the fabric and its jobs (TOML)")
          ->required();
      return command;
    };
    CLI::App* const plan = with_file(
        "plan", "Where the trees of a file's jobs would be, and what would change", fabric_plan);
    CLI::App* const apply = with_file(
        "apply",
        "Installs the trees of a file's jobs on all switches, or changes nothing, and says what "
        "the workers set; gives levels that lack one their seed",
        fabric_apply);
    with_file("show",
              "What is installed, and whether it is what the file asks for (exit code 1 if not)",
              fabric_show);
    CLI::App* const remove = with_file(
        "remove",
        "Takes the jobs of the file, or those named, from all switches, or changes nothing",
        fabric_remove);
    CLI::App* const watching = with_file(
        "watch",
        "Keeps the trees where they can be: places them anew when switches and links come "
        "and go, follows changes of the file, and prints what changes",
        fabric_watch);
    add_rounds(*watching, "looks", fabric.interval_s, fabric.count);
    for (CLI::App* const command : {apply, watching}) {
      command
          ->add_option(
              "--env", fabric.env_directory,
              "Directory for a file per job with what its workers set; it is made if there "
              "is none")
          ->type_name("DIR");
    }
    remove
        ->add_option("--job", fabric.jobs,
                     "Only this job, once for each; also one that is not in the file")
        ->type_name("ID")
        ->check(whole_number())
        ->allow_extra_args(false);  // what follows may be the file
    add_force(*remove, fabric.force);
    for (CLI::App* const command : {plan, apply, remove}) {
      command->add_flag("--skip-unreachable", fabric.skip_unreachable,
                        "Goes on without switches that do not answer");
    }
  }

  void add_handlers() {
    CLI::App* const parent =
        app.add_subcommand("handler", "Operators that people bring: jobs name them handler:NUMBER");
    parent->require_subcommand(1);
    add(*parent, "list", "Handlers, with the marks that agree where all have the same",
        [this] { return show_handlers(options); });
    CLI::App* const load = add(*parent, "load",
                               "Loads a shared object of the daemon's host, or an expression over "
                               "elements of a type; what is there already is no error",
                               [this] { return load_handler(options, handler); });
    CLI::App* const unload = add(*parent, "unload",
                                 "Takes a handler away, and returns when no packet is in it; what "
                                 "a job still sends with it is dropped",
                                 [this] { return unload_handler(options, handler); });
    for (CLI::App* const command : {load, unload}) {
      command->add_option("NUMBER", handler.number, "The same on all switches and ranks")
          ->required()
          ->check(whole_number().description(""))
          ->check(CLI::Range(0u, tributary::wire::handlers_max - 1));
    }
    load->add_option("FILE", handler.file,
                     "A name in the daemon's handler_directory, or a path below it");
    load->add_option("--expression", handler.expression,
                     "Instead of a file, as 'acc = min(acc + in, 127)'");
    load->add_option("--type", handler.type, "Of an expression's elements, as i8");
  }

  void add_actions() {
    add(app, "relay",
        "Joins standard input and output with the control socket; fabric runs it on other machines "
        "by ssh",
        [this] { return relay(options); });
    const auto& levels = tributary::control::log_levels;
    add(app, "log-level", "Shows or sets how much the daemon logs",
        [this] { return log_level(options, level); })
        ->add_option("LEVEL", level, "Leave it out to see the level")
        ->check(CLI::IsMember(std::vector<std::string>(levels.begin(), levels.end())));
    add(app, "shutdown",
        "Ends the daemon, which first sends what waits in its queues (for up to half a second)",
        [this] { return stop_daemon(options); });
    add(app, "version", "Versions of this program and its protocol",
        [this] { return show_version(options); });
  }
};

// What failed before the last buffer is only to be seen on the stream.
int finish(ExitCode code) {
  const bool is_written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!is_written) {
    std::fputs("tributaryctl: cannot write all of the answer to standard output\n", stderr);
  }
  return static_cast<int>(is_written ? code : ExitCode::failed);
}

}  // namespace

int main(int argc, char** argv) {
  CommandLine line;
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return line.app.exit(help);
  } catch (const CLI::ParseError& error) {
    line.options.json = std::any_of(argv + 1, argv + argc, [](std::string_view argument) {
      return argument == "--json" || argument == "-j";
    });
    return finish(report(line.options, ExitCode::usage, "usage", usage_complaint(line.app, error)));
  }
  try {
    return finish(line.run());
  } catch (const std::exception& error) {  // an answer of a shape that no daemon sends
    return finish(report(line.options, ExitCode::failed, "failed", error.what()));
  }
}
