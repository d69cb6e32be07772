// SPDX-License-Identifier: BSD-3-Clause
#include "options.h"

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string_view>

#include <CLI/CLI.hpp>

#include "units.h"

namespace tributary::bench {
namespace {

constexpr int exit_usage = 2;

std::vector<wire::ElementType> types_of(const std::vector<std::string>& names) {
  constexpr std::pair<std::string_view, wire::ElementType> nccl_names[] = {
      {"float", wire::ElementType::f32}, {"double", wire::ElementType::f64},
      {"half", wire::ElementType::f16},  {"bfloat16", wire::ElementType::bf16},
      {"int8", wire::ElementType::i8},   {"int16", wire::ElementType::i16},
      {"int32", wire::ElementType::i32}, {"int64", wire::ElementType::i64}};
  std::vector<wire::ElementType> types;
  for (const std::string& text : names) {
    auto type = wire::element_type_of(text);
    for (const auto& [alias, meant] : nccl_names) {
      type = text == alias ? meant : type;
    }
    if (text == "all") {
      for (std::size_t i = 0; i < wire::element_type_count; ++i) {
        types.push_back(static_cast<wire::ElementType>(i));
      }
    } else if (type) {
      types.push_back(*type);
    } else {
      throw CLI::ValidationError(text, "is no type: f32 f64 f16 bf16 i8 i16 i32 i64 or all");
    }
  }
  return types;
}

std::vector<wire::Operator> operators_of(const std::vector<std::string>& names) {
  std::vector<wire::Operator> operators;
  for (const std::string& text : names) {
    if (text == "all") {
      for (std::size_t i = 0; i < wire::operator_count; ++i) {
        operators.push_back(static_cast<wire::Operator>(i));
      }
    } else if (const auto op = wire::operator_of(text)) {
      operators.push_back(*op);
    } else {
      throw CLI::ValidationError(text, "is no operator: sum min max prod and or xor or all");
    }
  }
  return operators;
}

// "all" skips what does not exist; where nothing is left, nothing would be measured.
void require_reduction(const Options& options) {
  for (const auto type : options.types) {
    for (const auto op : options.operators) {
      if (wire::is_valid(type, op)) {
        return;
      }
    }
  }
  throw CLI::ValidationError("--op", "and, or and xor are for integers; choose another --datatype");
}

std::vector<Algorithm> algorithms_of(const std::vector<std::string>& names) {
  std::vector<Algorithm> algorithms;
  for (const std::string& text : names) {
    const auto algorithm = algorithm_of(text);
    if (!algorithm) {
      throw CLI::ValidationError(
          text, "is no algorithm: auto, canary, panama, netreduce, roce-ring or ring");
    }
    algorithms.push_back(*algorithm);
  }
  return algorithms;
}

std::vector<Hierarchy> hierarchies_of(const std::vector<std::string>& names) {
  std::vector<Hierarchy> hierarchies;
  for (const std::string& text : names) {
    const auto hierarchy = hierarchy_of(text);
    if (!hierarchy) {
      throw CLI::ValidationError(text, "is no hierarchy: parallel or tencent");
    }
    hierarchies.push_back(*hierarchy);
  }
  return hierarchies;
}

// Only one of them fits into a run.
bool has_own_sockets(Algorithm algorithm) {
  return algorithm == Algorithm::canary || algorithm == Algorithm::panama ||
         algorithm == Algorithm::netreduce || algorithm == Algorithm::roce_ring;
}

// That of the communicator, with which all that are measured can be run.
Algorithm common_algorithm(const std::vector<Algorithm>& measured) {
  auto common = Algorithm::ring;
  for (const auto algorithm : measured) {
    const bool both = algorithm != common && has_own_sockets(algorithm) && has_own_sockets(common);
    if (both) {
      throw CLI::ValidationError("--algorithm",
                                 "canary, panama, netreduce and roce-ring need a run each");
    }
    if (common == Algorithm::ring || has_own_sockets(algorithm)) {
      common = algorithm;
    }
  }
  return common;
}

// Not by CLI11, which would ask the environment for every subcommand, also for those that are not
// meant, and believe it rather than the command line.
std::string usual_algorithm() {
  const char* said = std::getenv("TRIBUTARY_ALGORITHM");
  return said != nullptr && *said != '\0' ? said : "canary";
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
  std::vector<std::string> algorithms = {usual_algorithm()};
  std::vector<std::string> hierarchies;
  std::string between = "auto";
  int check = 1;
  bool csv = false;
  bool json = false;
  std::string layout = "nccl";
  std::string line_rate;
  std::optional<std::uint32_t> rank;
  std::optional<std::uint32_t> world;
  std::string rendezvous;
  double stall_timeout_s = 0;
  double deadline_s = 0;
  double interval_s = 0;
  std::uint32_t window = 0;
  std::uint16_t mtu = 0;
  std::string encapsulation;
  std::string fallback;
  std::uint32_t attempts = 0;
  std::uint32_t job = 0;
  std::vector<std::string> trees;
  std::string congestion_control;
  double share = 0;
  std::optional<std::uint32_t> ring;
};

void declare_vector(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("-b,--minbytes", raw.minimum, "smallest size")->capture_default_str();
  app.add_option("-e,--maxbytes", raw.maximum, "largest size")->capture_default_str();
  auto* factor = app.add_option("-f,--stepfactor", raw.factor, "factor between sizes")
                     ->check(CLI::Range(2, 1024))
                     ->capture_default_str();
  app.add_option("-i,--stepbytes", raw.increment, "difference between sizes")->excludes(factor);
  app.add_option("--counts", raw.counts, "element counts instead of sizes")->delimiter(',');
  app.add_option("-d,--datatype", raw.types, "f32 f64 f16 bf16 i8 i16 i32 i64, all")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--misalign", options.misalignment, "bytes by which buffers miss alignment")
      ->check(CLI::Range(0, 63));
}

void declare_operator(CLI::App& app, Raw& raw) {
  app.add_option("-o,--op", raw.operators, "sum min max prod and or xor, all")
      ->delimiter(',')
      ->capture_default_str();
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

void declare_run(CLI::App& app, Raw& raw, Options& options) {
  app.add_option("-n,--iters", options.iterations, "timed iterations")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("-w,--warmup_iters", options.warmups, "iterations before those")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option(
         "--interval", raw.interval_s,
         "seconds between the beginnings of two iterations, at least: as of a training that "
         "also computes")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option(
         "--algorithm", raw.algorithms,
         "canary, panama, netreduce or roce-ring; ring, auto (as the communicator chooses), or "
         "a list of them; if not given, what TRIBUTARY_ALGORITHM says")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("-c,--check", raw.check, "1: verify every element of every iteration; 0: do not")
      ->check(CLI::Range(0, 1))
      ->capture_default_str();
  auto* csv = app.add_flag("--csv", raw.csv, "comma-separated values");
  app.add_flag("--json", raw.json, "one JSON document")->excludes(csv);
  app.add_option("--layout", raw.layout, "nccl or osu")->check(CLI::IsMember({"nccl", "osu"}));
  app.add_option("--record", options.record, "also write the JSON document to this file");
  app.add_option("--line-rate", raw.line_rate,
                 "of the links, as in 200Mbit: adds the share of line-rate goodput");
  app.add_option("--rank", raw.rank, "default: the variable RANK");
  app.add_option("--world", raw.world, "number of ranks; default: WORLD_SIZE")
      ->check(CLI::PositiveNumber);
  app.add_option("--rendezvous", raw.rendezvous,
                 "address:port of rank 0; default: MASTER_ADDR and MASTER_PORT");
  app.add_option("--stall-timeout", raw.stall_timeout_s,
                 "seconds without progress after which a collective has failed; default: "
                 "TRIBUTARY_STALL_TIMEOUT, or 30 if there is no deadline")
      ->check(CLI::Range(0.001, 86400.0));
  app.add_option("--deadline", raw.deadline_s,
                 "seconds after which a collective has failed, in spite of progress; default: "
                 "TRIBUTARY_DEADLINE, or none")
      ->check(CLI::Range(0.001, 86400.0));
  app.add_option("--window", raw.window, "blocks in flight per rank");
  app.add_option("--mtu", raw.mtu, "default: that of the interface");
  app.add_option("--encapsulation", raw.encapsulation, "udp or ethernet")
      ->check(CLI::IsMember({"udp", "ethernet"}));
  app.add_option("--fallback", raw.fallback,
                 "where the switches do not reduce: allow (the hosts do) or error")
      ->check(CLI::IsMember({"allow", "error"}));
  app.add_option("--attempts", raw.attempts,
                 "how often a block is tried in the network before the hosts reduce it; default: 4")
      ->check(CLI::Range(1u, CommunicatorOptions::attempts_max));
  app.add_option("--job", raw.job, "for the switches; default: drawn");
  app.add_option("--trees", raw.trees, "panama: multicast groups of the job's aggregation trees")
      ->delimiter(',');
  app.add_option("--congestion-control", raw.congestion_control, "panama: on or off")
      ->check(CLI::IsMember({"on", "off"}));
  app.add_option("--ring", raw.ring, "netreduce: the ring, as configured on the switch");
  app.add_option("--share", raw.share, "panama: of the ranks, that a sum needs; implies --check 0")
      ->check(CLI::Range(0.001, 1.0));
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

std::chrono::nanoseconds nanoseconds_of(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(seconds));
}

CommunicatorOptions communicator_of(const Raw& raw) {
  CommunicatorOptions options;
  auto environment = CommunicatorOptions::from_environment();
  if (environment) {
    options = *environment;
  } else if (!raw.rank || !raw.world || raw.rendezvous.empty()) {
    throw CLI::ValidationError("environment", environment.error().message);
  } else if (const char* const secret = std::getenv("TRIBUTARY_SECRET")) {
    options.secret = secret;
  }
  options.rank = raw.rank.value_or(options.rank);
  options.world_size = raw.world.value_or(options.world_size);
  if (!raw.rendezvous.empty()) {
    options.rendezvous = raw.rendezvous;
  }
  if (raw.stall_timeout_s > 0) {
    options.stall_timeout = nanoseconds_of(raw.stall_timeout_s);
  }
  if (raw.deadline_s > 0) {
    options.deadline = nanoseconds_of(raw.deadline_s);
  }
  if (raw.window > 0) {
    options.window = raw.window;
  }
  if (raw.mtu > 0) {
    options.mtu = raw.mtu;
  }
  if (!raw.encapsulation.empty()) {
    options.encapsulation =
        raw.encapsulation == "udp" ? wire::Encapsulation::udp : wire::Encapsulation::ethernet;
  }
  options.fallback = fallback_of(raw.fallback).value_or(options.fallback);
  options.attempts = raw.attempts > 0 ? raw.attempts : options.attempts;
  options.job = raw.job > 0 ? raw.job : options.job;
  if (!raw.trees.empty()) {
    options.trees = raw.trees;
  }
  if (!raw.congestion_control.empty()) {
    options.congestion_control = raw.congestion_control == "on";
  }
  options.share = raw.share > 0 ? raw.share : options.share;
  options.netreduce_ring = raw.ring ? raw.ring : options.netreduce_ring;
  return options;
}

void interpret(const Raw& raw, Options& options) {
  options.sizes = sizes_of(raw);
  options.counts = raw.counts;
  options.interval = nanoseconds_of(raw.interval_s);
  options.types = types_of(raw.types);
  options.operators = operators_of(raw.operators);
  require_reduction(options);
  options.algorithms = algorithms_of(raw.algorithms);
  options.hierarchies = hierarchies_of(raw.hierarchies);
  options.between = algorithms_of({raw.between}).front();
  options.check = raw.check != 0 && !(raw.share > 0 && raw.share < 1);
  options.layout = raw.json              ? Layout::json
                   : raw.csv             ? Layout::csv
                   : raw.layout == "osu" ? Layout::osu
                                         : Layout::nccl;
  options.line_rate_bps = raw.line_rate.empty() ? 0 : rate_of(raw.line_rate);
  options.communicator = communicator_of(raw);
  options.communicator.algorithm = common_algorithm(options.algorithms);
  options.communicator.local_world_size = options.local_world_size;
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
  app.footer(
      "Background traffic: tributary-bench background --help\n"
      "Cost model of machines with several ranks: tributary-bench model --help");
  app.require_subcommand(1);
  Raw raw;
  Options options;
  for (const auto collective :
       {Collective::allreduce, Collective::reduce, Collective::broadcast, Collective::barrier}) {
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
    declare_run(*command, raw, options);
  }
  try {
    app.parse(argc, argv);
    interpret(raw, options);
  } catch (const CLI::ParseError& error) {
    const auto rest = app.remaining();
    if (app.get_subcommands().empty() && !rest.empty() && !rest.front().starts_with('-')) {
      std::fprintf(stderr,
                   "tributary-bench: no subcommand `%s`; there are allreduce, reduce, broadcast, "
                   "barrier, background, model\n",
                   rest.front().c_str());
      return {std::nullopt, exit_usage};
    }
    const int code = app.exit(error);
    return {std::nullopt, code == 0 ? 0 : exit_usage};
  }
  return {std::move(options), 0};
}

}  // namespace tributary::bench
