// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include <CLI/CLI.hpp>

#include "decimal.h"
#include "exit_codes.h"
#include "host/protocol.h"
#include "host/variables.h"
#include "options_raw.h"
#include "parameters.h"
#include "real_range.h"
#include "reference.h"
#include "units.h"
#include "unknown_command.h"

namespace tributary::bench {
namespace {

// CLI11 does not read the variable: it would ask the environment for every subcommand, also for
// those that are not meant, and believe it rather than the command line.
std::string usual_algorithm() {
  const char* said = std::getenv("TRIBUTARY_ALGORITHM");
  return said != nullptr && *said != '\0' ? said : std::string(host::default_protocol().name);
}

template <typename Nanoseconds>
CLI::Option* add_seconds(CLI::App& app, const std::string& name, Nanoseconds& out,
                         const std::string& help) {
  return app.add_option_function<double>(
      name, [&out](double seconds) { out = nanoseconds_of(seconds); }, help);
}

template <typename T>
void add_choice(CLI::App& app, const std::string& name, T& out,
                const std::map<std::string, T>& words, const std::string& help) {
  std::vector<std::string> known;
  for (const auto& [word, value] : words) {
    known.push_back(word);
  }
  app.add_option_function<std::string>(
         name, [&out, words](const std::string& word) { out = words.at(word); }, help)
      ->check(CLI::IsMember(known));
}

void declare_vector(CLI::App& app, Raw& raw, Options& options) {
  as_size(app.add_option("-b,--minbytes", raw.minimum, "smallest size"))->default_str("4K");
  as_size(app.add_option("-e,--maxbytes", raw.maximum, "largest size"))->default_str("16M");
  auto* factor = app.add_option("-f,--stepfactor", raw.factor, "factor between sizes")
                     ->check(CLI::Range(2, 1024))
                     ->capture_default_str();
  as_size(app.add_option("-i,--stepbytes", raw.increment, "difference between sizes"))
      ->check(CLI::PositiveNumber)
      ->excludes(factor);
  auto* counts =
      app.add_option("--counts", raw.counts, "element counts instead of sizes")->delimiter(',');
  for (const auto* const size : {"--minbytes", "--maxbytes", "--stepfactor", "--stepbytes"}) {
    counts->excludes(app.get_option(size));
  }
  app.add_option("-d,--datatype,--type", raw.types,
                 wire::listed(wire::element_type_names) + ", all")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--misalign", options.misalignment, "bytes by which buffers miss alignment")
      ->check(CLI::Range(0, 63));
}

void declare_operator(CLI::App& app, Raw& raw) {
  app.add_option("-o,--op", raw.operators,
                 wire::listed(wire::operator_names) + ", handler:N, or all of the former")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option(
         "--handler", raw.handlers,
         "N=EXPRESSION or N=FILE: loads handler N; a file begins with / or .; once for each "
         "handler")
      ->allow_extra_args(false);
}

void declare_hierarchy(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("--hierarchy", raw.hierarchies,
                 "also measure allreduce over machines of several ranks: parallel, tencent")
      ->delimiter(',');
  app.add_option("--between", raw.between, "the machines of a hierarchy: an algorithm")
      ->capture_default_str();
  app.add_option("--local-rank", options.local_rank,
                 "among those of this machine; a launcher says it (LOCAL_RANK)")
      ->capture_default_str();
  app.add_option("--local-world", options.local_world_size,
                 "ranks of each machine; a launcher says it (LOCAL_WORLD_SIZE)")
      ->capture_default_str();
}

void declare_root(CLI::App& app, Options& options) {
  app.add_option("-r,--root", options.root, "rank")->capture_default_str();
}

void declare_density(CLI::App& app, Raw& raw) {
  app.add_option("--density", raw.density,
                 "share of a rank's elements that are not zero, drawn anew for each rank")
      ->check(apps::real_range(0.0, 1.0))
      ->capture_default_str();
}

void declare_sketch(CLI::App& app, Options& options) {
  auto& out = options.sketch;
  add_choice(app, "--sketch", out.kind,
             {{"grid", SketchKind::grid}, {"quantiles", SketchKind::quantiles}},
             "grid (integers that the network adds up; default) or quantiles (codes that all ranks "
             "get and decode)");
  app.add_option("--bits", out.bits,
                 "of an element on its way: 16, 8 or 4 of a grid, 8, 4 or 2 of quantiles, also 32 "
                 "of factors")
      ->check(CLI::IsMember({32u, 16u, 8u, 4u, 2u}))
      ->capture_default_str();
  add_choice(app, "--rounding", out.rounding,
             {{"stochastic", Rounding::stochastic}, {"nearest", Rounding::nearest}},
             "stochastic (default) or nearest");
  app.add_option("--seed", out.seed, "of stochastic rounding")->capture_default_str();
  app.add_option("--low-rank", options.low_rank,
                 "vectors are matrices, and go as two factors of this rank; 0: as they are")
      ->capture_default_str();
  app.add_option("--columns", options.columns,
                 "of these matrices; 0: as near to a square as there is one")
      ->capture_default_str();
}

// An option that is not given stays as the environment has it.
void declare_communicator(CLI::App& app, CommunicatorOptions& out) {
  app.add_option("--rank", out.rank, "default: the variable RANK");
  app.add_option("--world", out.world_size, "number of ranks; default: WORLD_SIZE")
      ->check(CLI::PositiveNumber);
  app.add_option("--rendezvous", out.rendezvous,
                 "address:port of rank 0; default: MASTER_ADDR and MASTER_PORT");
  add_seconds(app, "--stall-timeout", out.stall_timeout,
              "seconds without progress after which a collective has failed; default: "
              "TRIBUTARY_STALL_TIMEOUT, or 30 if there is no deadline")
      ->check(apps::real_range(0.001, 86400.0));
  add_seconds(app, "--deadline", out.deadline,
              "seconds after which a collective has failed, in spite of progress; default: "
              "TRIBUTARY_DEADLINE, or none")
      ->check(apps::real_range(0.001, 86400.0));
  app.add_option("--window", out.window, "blocks in flight per rank");
  app.add_option("--mtu", out.mtu, "default: that of the interface");
  add_choice(app, "--encapsulation", out.encapsulation,
             {{"udp", wire::Encapsulation::udp}, {"ethernet", wire::Encapsulation::ethernet}},
             "udp or ethernet");
  add_choice(app, "--fallback", out.fallback,
             {{"allow", Fallback::allow}, {"error", Fallback::error}},
             "where the switches do not reduce: allow (the hosts do) or error");
  app.add_option("--job", out.job, "for the switches; default: drawn");
  app.add_flag("--reproducible", out.reproducible,
               "the same contributions give the same bits; if not given, what "
               "TRIBUTARY_REPRODUCIBLE says");
  declare_parameters(app, out);
}

void declare_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("-n,--iters", options.iterations, "timed iterations")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("-w,--warmup_iters", options.warmups, "iterations before those")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  add_seconds(app, "--interval", options.interval,
              "seconds between the beginnings of two iterations, at least: as of a training that "
              "also computes")
      ->check(apps::real_range(0.0, 3600.0));
  app.add_option("--algorithm", raw.algorithms,
                 host::known_algorithms() +
                     " (auto: as the communicator chooses), or a list of them; if not given, what "
                     "TRIBUTARY_ALGORITHM says")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option(
         "-c,--check", raw.check,
         "1: verify every element of every iteration, but where nobody can tell which ranks "
         "a sum lacks; 0: do not")
      ->check(CLI::Range(0, 1))
      ->default_str("1");
  auto* csv = app.add_flag("--csv", raw.csv, "comma-separated values");
  auto* json = app.add_flag("--json", raw.json, "one JSON document")->excludes(csv);
  app.add_option("--layout", raw.layout, "nccl or osu")
      ->check(CLI::IsMember({"nccl", "osu"}))
      ->excludes(csv)
      ->excludes(json);
  app.add_option("--record", options.record, "also write the JSON document to this file");
  as_rate(app.add_option("--line-rate", options.line_rate_bps,
                         "of the links, as in 200Mbit: adds the share of line-rate goodput"));
}

// What the environment says of a rank's place among the others, the command line may say instead.
struct Environment {
  std::optional<Error> place_fault;
  std::optional<Error> settings_fault;
};

Environment read_communicator(const host::Variables& variables, CommunicatorOptions& options) {
  if (auto all = host::options_of(variables)) {
    options = std::move(*all);
    return {};
  } else if (auto settings = host::settings_of(variables)) {
    options = std::move(*settings);
    return {all.error(), std::nullopt};
  } else {
    return {std::nullopt, settings.error()};
  }
}

Environment read_environment(Options& options) {
  const host::Variables variables;
  auto environment = read_communicator(variables, options.communicator);
  options.local_world_size = options.communicator.local_world_size;
  if (const auto rank = host::local_rank_in(variables)) {
    options.local_rank = *rank;
  } else {
    environment.settings_fault = rank.error();
  }
  return environment;
}

void require_place(const Environment& environment, const CLI::App& command) {
  if (environment.settings_fault) {
    throw CLI::ValidationError("environment", environment.settings_fault->message);
  }
  for (const auto* name : {"--rank", "--world", "--rendezvous"}) {
    if (environment.place_fault && command.count(name) == 0) {
      throw CLI::ValidationError("environment", environment.place_fault->message);
    }
  }
}

std::string meaning_of(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
      return "Every rank gets the sum of all vectors, or what --op makes of them";
    case Collective::reduce:
      return "One rank gets the sum";
    case Collective::broadcast:
      return "Every rank gets the vector of one";
    case Collective::barrier:
      return "Every rank waits for all others";
    case Collective::sparse_allreduce:
      return "Every rank gets the sum of vectors of which most elements are zero";
    case Collective::sketched_allreduce:
      return "Every rank gets the sum of vectors that are sent in fewer bits";
  }
  return {};
}

void declare(CLI::App& app, Collective collective, Raw& raw, Options& options) {
  auto& command = *app.add_subcommand(name(collective), meaning_of(collective));
  command.footer(
      "There is one process for each rank, which is started as by torchrun (RANK, WORLD_SIZE, "
      "MASTER_ADDR, MASTER_PORT) or told by --rank, --world and --rendezvous.");
  command.callback([&options, collective] { options.collective = collective; });
  command.option_defaults()->group("Vectors");
  if (collective != Collective::barrier) {
    declare_vector(command, raw, options);
  }
  if (collective == Collective::allreduce || collective == Collective::reduce) {
    declare_operator(command, raw);
  }
  if (collective == Collective::allreduce) {
    declare_hierarchy(command, raw, options);
  }
  if (collective == Collective::reduce || collective == Collective::broadcast) {
    declare_root(command, options);
  }
  if (collective == Collective::sparse_allreduce) {
    declare_density(command, raw);
  }
  if (collective == Collective::sketched_allreduce) {
    declare_sketch(command, options);
  }
  command.option_defaults()->group("Runs and reports");
  declare_run(command, raw, options);
  command.option_defaults()->group("Ranks");
  declare_communicator(command, options.communicator);
}

// Tells what is wrong, or prints the help that was asked for, and returns the exit code.
int end(const CLI::App& app, const CLI::ParseError& error) {
  const auto unknown = apps::unknown_command(app);
  if (unknown && error.get_exit_code() != 0) {
    std::fprintf(stderr, "tributary-bench: %s\n", unknown->c_str());
    return apps::exit_usage;
  }
  return app.exit(error) == 0 ? 0 : apps::exit_usage;
}

}  // namespace

Parsed parse(int argc, char** argv) {
  CLI::App app("Measures collectives of Tributary and verifies every element.", "tributary-bench");
  app.set_version_flag("--version", TRIBUTARY_VERSION);
  apps::add_reference(app, "all commands, options and parameters of protocols",
                      [&app] { return apps::reference_of(app) + "\n" + reference_text(); });
  app.require_subcommand(1);
  Raw raw;
  raw.algorithms = {usual_algorithm()};
  Options options;
  const auto environment = read_environment(options);
  for (const auto collective :
       {Collective::allreduce, Collective::reduce, Collective::broadcast, Collective::barrier,
        Collective::sparse_allreduce, Collective::sketched_allreduce}) {
    declare(app, collective, raw, options);
  }
  // These have a command line of their own, and are here for the help only.
  app.add_subcommand("background", "Traffic of other programs beside a job: see its --help");
  app.add_subcommand("model", "Computes what machines with several ranks gain: see its --help");
  try {
    apps::parse_decimal(app, argc, argv);
    require_place(environment, *app.get_subcommands().front());
    interpret(raw, options);
  } catch (const CLI::ParseError& error) {
    return {std::nullopt, end(app, error)};
  }
  return {std::move(options), 0};
}

}  // namespace tributary::bench
