// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "exit_codes.h"
#include "host/protocol.h"
#include "host/sparse_vector.h"
#include "parameters.h"
#include "units.h"

namespace tributary::bench {
namespace {

// The values of an enumeration that words stand for; `all` is how many "all" stands for, if it is a
// word. Not by CLI11's transformers: they complain with the numbers of the values.
template <typename T, typename Of>
std::vector<T> values_of(const std::vector<std::string>& words, Of of, const std::string& complaint,
                         std::size_t all = 0) {
  std::vector<T> values;
  for (const std::string& word : words) {
    if (word == "all" && all > 0) {
      for (std::size_t i = 0; i < all; ++i) {
        values.push_back(static_cast<T>(i));
      }
    } else if (const std::optional<T> value = of(word)) {
      values.push_back(*value);
    } else {
      throw CLI::ValidationError(word, complaint);
    }
  }
  return values;
}

// By our own names or NCCL's.
std::optional<wire::ElementType> type_of(std::string_view text) {
  constexpr std::pair<std::string_view, wire::ElementType> nccl_names[] = {
      {"float", wire::ElementType::f32}, {"double", wire::ElementType::f64},
      {"half", wire::ElementType::f16},  {"bfloat16", wire::ElementType::bf16},
      {"int8", wire::ElementType::i8},   {"int16", wire::ElementType::i16},
      {"int32", wire::ElementType::i32}, {"int64", wire::ElementType::i64}};
  for (const auto& [alias, type] : nccl_names) {
    if (text == alias) {
      return type;
    }
  }
  return wire::element_type_of(text);
}

// "all" skips what does not exist; where nothing is left, nothing would be measured.
// "all" are those that a sparse allreduce takes.
void keep_sparse_types(std::vector<wire::ElementType>& types) {
  std::erase_if(types, [](wire::ElementType type) { return !is_sparse_type(type); });
  if (types.empty()) {
    throw CLI::ValidationError(
        "--datatype", "a sparse allreduce has no elements of this type; choose a wider one");
  }
}

void require_floats(const Options& options) {
  if (options.misalignment % sizeof(float) != 0) {
    throw CLI::ValidationError("--misalign", "sketches are of floats that are aligned");
  }
  if (options.types != std::vector{wire::ElementType::f32} ||
      options.operators != std::vector{wire::Operator::sum}) {
    throw CLI::ValidationError("--datatype", "sketches are of f32, and added up");
  }
}

void require_reduction(const Options& options) {
  if (!options.has_operator()) {
    return;
  }
  for (const auto type : options.types) {
    for (const auto op : options.operators) {
      if (wire::is_valid(type, op)) {
        return;
      }
    }
  }
  throw CLI::ValidationError("--op",
                             std::string(wire::valid_combinations) + "; choose another --datatype");
}

std::vector<std::string> algorithms_of(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    CommunicatorOptions options;
    options.algorithm = name;
    if (host::protocol_of(options) == nullptr) {
      throw CLI::ValidationError(name, "is no algorithm: " + host::known_algorithms());
    }
  }
  return names;
}

// Only one of them fits into a run.
bool has_own_sockets(const std::string& algorithm) {
  return algorithm != host::ring_algorithm && algorithm != host::automatic_algorithm;
}

// That of the communicator, with which all that are measured can be run.
std::string common_algorithm(const std::vector<std::string>& measured) {
  std::string common(host::ring_algorithm);
  for (const auto& algorithm : measured) {
    if (algorithm != common && has_own_sockets(algorithm) && has_own_sockets(common)) {
      throw CLI::ValidationError("--algorithm", common + " and " + algorithm + " need a run each");
    }
    if (common == host::ring_algorithm || has_own_sockets(algorithm)) {
      common = algorithm;
    }
  }
  return common;
}

// Not by CLI11, which would ask the environment for every subcommand, also for those that are not
// meant, and believe it rather than the command line.
std::string usual_algorithm() {
  const char* said = std::getenv("TRIBUTARY_ALGORITHM");
  return said != nullptr && *said != '\0' ? said : std::string(host::default_protocol().name);
}

// What stands on the command line, before it means anything.
struct Raw {
  std::string minimum = "4K";
  std::string maximum = "16M";
  std::size_t factor = 2;
  std::string increment;
  std::vector<std::size_t> counts;
  std::vector<std::string> types = {"f32"};
  std::vector<std::string> operators = {"sum"};
  std::vector<std::string> handlers;
  std::vector<std::string> algorithms = {usual_algorithm()};
  std::vector<std::string> hierarchies;
  std::string between = "auto";
  double density = 0.01;
  int check = 1;
  bool csv = false;
  bool json = false;
  std::string layout = "nccl";
  std::string line_rate;
};

template <typename Nanoseconds>
CLI::Option* add_seconds(CLI::App& app, const std::string& name, Nanoseconds& out,
                         const std::string& help) {
  return app.add_option_function<double>(
      name, [&out](double seconds) { out = nanoseconds_of(seconds); }, help);
}

// One of two words.
template <typename T>
void add_choice(CLI::App& app, const std::string& name, T& out, std::pair<const char*, T> first,
                std::pair<const char*, T> second, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&out, first, second](const std::string& word) {
           out = word == first.first ? first.second : second.second;
         },
         help)
      ->check(CLI::IsMember({std::string(first.first), std::string(second.first)}));
}

void declare_vector(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("-b,--minbytes", raw.minimum, "smallest size")->capture_default_str();
  app.add_option("-e,--maxbytes", raw.maximum, "largest size")->capture_default_str();
  auto* factor = app.add_option("-f,--stepfactor", raw.factor, "factor between sizes")
                     ->check(CLI::Range(2, 1024))
                     ->capture_default_str();
  app.add_option("-i,--stepbytes", raw.increment, "difference between sizes")->excludes(factor);
  app.add_option("--counts", raw.counts, "element counts instead of sizes")->delimiter(',');
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
  app.add_option("--local-rank", options.local_rank, "among those of this machine")
      ->envname("LOCAL_RANK")
      ->capture_default_str();
  app.add_option("--local-world", options.local_world_size, "ranks of each machine")
      ->envname("LOCAL_WORLD_SIZE")
      ->capture_default_str();
}

void declare_root(CLI::App& app, Options& options) {
  app.add_option("-r,--root", options.root, "rank")->capture_default_str();
}

void declare_density(CLI::App& app, Raw& raw) {
  app.add_option("--density", raw.density,
                 "share of a rank's elements that are not zero, drawn anew for each rank")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
}

void declare_sketch(CLI::App& app, SketchOptions& out) {
  add_choice(app, "--sketch", out.kind, {"grid", SketchKind::grid},
             {"quantiles", SketchKind::quantiles},
             "grid (integers that the network adds up; default) or quantiles (codes that all ranks "
             "get and decode)");
  app.add_option("--bits", out.bits,
                 "of an element on its way: 16, 8 or 4 of a grid, 8, 4 or 2 of quantiles")
      ->check(CLI::IsMember({16u, 8u, 4u, 2u}))
      ->capture_default_str();
  add_choice(app, "--rounding", out.rounding, {"stochastic", Rounding::stochastic},
             {"nearest", Rounding::nearest}, "stochastic (default) or nearest");
  app.add_option("--seed", out.seed, "of stochastic rounding")->capture_default_str();
}

// What is not given stays as the environment has it.
void declare_communicator(CLI::App& app, CommunicatorOptions& out) {
  app.add_option("--rank", out.rank, "default: the variable RANK");
  app.add_option("--world", out.world_size, "number of ranks; default: WORLD_SIZE")
      ->check(CLI::PositiveNumber);
  app.add_option("--rendezvous", out.rendezvous,
                 "address:port of rank 0; default: MASTER_ADDR and MASTER_PORT");
  add_seconds(app, "--stall-timeout", out.stall_timeout,
              "seconds without progress after which a collective has failed; default: "
              "TRIBUTARY_STALL_TIMEOUT, or 30 if there is no deadline")
      ->check(CLI::Range(0.001, 86400.0));
  add_seconds(app, "--deadline", out.deadline,
              "seconds after which a collective has failed, in spite of progress; default: "
              "TRIBUTARY_DEADLINE, or none")
      ->check(CLI::Range(0.001, 86400.0));
  app.add_option("--window", out.window, "blocks in flight per rank");
  app.add_option("--mtu", out.mtu, "default: that of the interface");
  add_choice(app, "--encapsulation", out.encapsulation, {"udp", wire::Encapsulation::udp},
             {"ethernet", wire::Encapsulation::ethernet}, "udp or ethernet");
  add_choice(app, "--fallback", out.fallback, {"allow", Fallback::allow},
             {"error", Fallback::error},
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
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--algorithm", raw.algorithms,
                 host::known_algorithms() +
                     " (auto: as the communicator chooses), or a list of them; if not given, what "
                     "TRIBUTARY_ALGORITHM says")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("-c,--check", raw.check,
                 "1: verify every element of every iteration, but where sums may lack ranks; 0: do "
                 "not")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  auto* csv = app.add_flag("--csv", raw.csv, "comma-separated values");
  app.add_flag("--json", raw.json, "one JSON document")->excludes(csv);
  app.add_option("--layout", raw.layout, "nccl or osu")->check(CLI::IsMember({"nccl", "osu"}));
  app.add_option("--record", options.record, "also write the JSON document to this file");
  app.add_option("--line-rate", raw.line_rate,
                 "of the links, as in 200Mbit: adds the share of line-rate goodput");
  declare_communicator(app, options.communicator);
}

std::vector<std::size_t> sizes_of(const Raw& raw) {
  const std::size_t first = bytes_of(raw.minimum);
  const std::size_t last = bytes_of(raw.maximum);
  const std::size_t increment = raw.increment.empty() ? 0 : bytes_of(raw.increment);
  if (first > last) {
    throw CLI::ValidationError("--minbytes", raw.minimum + " is more than " + raw.maximum);
  }
  if (!raw.increment.empty() && increment == 0) {
    throw CLI::ValidationError("--stepbytes", "must not be 0");
  }
  std::vector<std::size_t> sizes;
  for (std::size_t size = first; size <= last;) {
    sizes.push_back(size);
    if (size == 0 && increment == 0) {
      size = 1;
    } else {
      size = increment > 0 ? size + increment : size * raw.factor;
    }
  }
  return sizes;
}

// What the environment says, if that is enough. If not, the command line has to tell the rest.
Result<void> read_environment(CommunicatorOptions& options) {
  auto environment = CommunicatorOptions::from_environment();
  if (environment) {
    options = std::move(*environment);
    return {};
  }
  if (const char* const secret = std::getenv("TRIBUTARY_SECRET")) {
    options.secret = secret;
  }
  return tl::unexpected(environment.error());
}

bool may_be_partial(const CommunicatorOptions& options) {
  const auto* const protocol = host::protocol_of(options);
  return protocol != nullptr && protocol->partial != nullptr && protocol->partial(options);
}

// Not the automatic one: results say which it was.
std::optional<Hierarchy> measured_hierarchy(const std::string& text) {
  const auto hierarchy = hierarchy_of(text);
  return hierarchy == Hierarchy::automatic ? std::nullopt : hierarchy;
}

// Where a sum may lack ranks, nobody can tell what it should be.
bool can_be_verified(const Options& options) {
  return !options.has_operator() || options.is_sparse() || options.is_sketched() ||
         (!may_be_partial(options.communicator) &&
          (options.hierarchies.empty() || !may_be_partial(options.between_machines())));
}

void interpret(const Raw& raw, const CLI::App& command, const Result<void>& environment,
               Options& options) {
  const auto given = [&](const char* name) { return command.count(name) > 0; };
  if (!environment && !(given("--rank") && given("--world") && given("--rendezvous"))) {
    throw CLI::ValidationError("environment", environment.error().message);
  }
  options.sizes = sizes_of(raw);
  options.counts = raw.counts;
  options.types = values_of<wire::ElementType>(
      raw.types, type_of, "is no type: " + wire::listed(wire::element_type_names) + " or all",
      wire::built_in_type_count);
  options.operators = values_of<wire::Operator>(
      raw.operators, wire::operator_of,
      "is no operator: " + wire::listed(wire::operator_names) + ", handler:0 to handler:63 or all",
      wire::operator_count);
  options.handlers = handlers_of(raw.handlers, options.types);
  if (options.is_sparse()) {
    keep_sparse_types(options.types);
  }
  if (options.is_sketched()) {
    require_floats(options);
    options.sketch.feedback = false;  // sums would have what is left of those before
  }
  require_reduction(options);
  options.algorithms = algorithms_of(raw.algorithms);
  options.hierarchies = values_of<Hierarchy>(raw.hierarchies, measured_hierarchy,
                                             "is no hierarchy: parallel or tencent");
  options.between = algorithms_of({raw.between}).front();
  options.layout = raw.json              ? Layout::json
                   : raw.csv             ? Layout::csv
                   : raw.layout == "osu" ? Layout::osu
                                         : Layout::nccl;
  options.line_rate_bps = raw.line_rate.empty() ? 0 : rate_of(raw.line_rate);
  options.communicator.algorithm = common_algorithm(options.algorithms);
  options.communicator.local_world_size = options.local_world_size;
  options.density = options.is_sparse() ? raw.density : 1;
  options.check = raw.check != 0 && can_be_verified(options);
  if (raw.check != 0 && given("--check") && !options.check) {
    throw CLI::ValidationError("--check",
                               "sums that may lack ranks (partial aggregation) cannot be verified; "
                               "say 0, or leave it out");
  }
  if (options.communicator.world_size != 0 && options.root >= options.communicator.world_size) {
    throw CLI::ValidationError("--root", "is not a rank");
  }
  if (options.collective == Collective::barrier) {
    options.counts = {0};
  }
}

}  // namespace

Parsed parse(int argc, char** argv) {
  CLI::App app("Measures collectives of Tributary and verifies every element.", "tributary-bench");
  app.set_version_flag("--version", TRIBUTARY_VERSION);
  app.add_flag_callback(
      "--reference",
      [] {
        std::fputs(reference_text().c_str(), stdout);
        throw CLI::Success();
      },
      "Print the parameters of protocols, as a table, and exit");
  app.footer(
      "Background traffic: tributary-bench background --help\n"
      "Cost model of machines with several ranks: tributary-bench model --help");
  app.require_subcommand(1);
  Raw raw;
  Options options;
  const auto environment = read_environment(options.communicator);
  for (const auto collective :
       {Collective::allreduce, Collective::reduce, Collective::broadcast, Collective::barrier,
        Collective::sparse_allreduce, Collective::sketched_allreduce}) {
    CLI::App* command = app.add_subcommand(
        name(collective),
        "One process per rank, started as torchrun does (RANK, WORLD_SIZE, MASTER_ADDR, "
        "MASTER_PORT) or told with --rank, --world, --rendezvous.");
    command->callback([&options, collective] { options.collective = collective; });
    if (collective != Collective::barrier) {
      declare_vector(*command, raw, options);
    }
    if (collective == Collective::allreduce || collective == Collective::reduce) {
      declare_operator(*command, raw);
    }
    if (collective == Collective::allreduce) {
      declare_hierarchy(*command, raw, options);
    }
    if (collective == Collective::reduce || collective == Collective::broadcast) {
      declare_root(*command, options);
    }
    if (collective == Collective::sparse_allreduce) {
      declare_density(*command, raw);
    }
    if (collective == Collective::sketched_allreduce) {
      declare_sketch(*command, options.sketch);
    }
    declare_run(*command, raw, options);
  }
  try {
    app.parse(argc, argv);
    interpret(raw, *app.get_subcommands().front(), environment, options);
  } catch (const CLI::ParseError& error) {
    const auto rest = app.remaining();
    if (app.get_subcommands().empty() && !rest.empty() && !rest.front().starts_with('-')) {
      std::fprintf(stderr,
                   "tributary-bench: no subcommand `%s`; there are allreduce, reduce, broadcast, "
                   "barrier, sparse_allreduce, sketched_allreduce, background, model\n",
                   rest.front().c_str());
      return {std::nullopt, apps::exit_usage};
    }
    const int code = app.exit(error);
    return {std::nullopt, code == 0 ? 0 : apps::exit_usage};
  }
  return {std::move(options), 0};
}

}  // namespace tributary::bench
