// SPDX-License-Identifier: BSD-3-Clause
#include "model.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "decimal.h"
#include "exit_codes.h"
#include "host/parallel/cost_model.h"
#include "real_range.h"
#include "units.h"

namespace tributary::bench {
namespace {

struct Question {
  Cluster cluster;
  std::vector<std::size_t> sizes = {64u << 10, 1u << 20, 16u << 20};
  bool json = false;
};

// This is what stands on the command line, before it means anything.
struct RawQuestion {
  double latency_us = 0;
  std::uint64_t intra_bps = 0;
  std::uint64_t inter_bps = 0;
};

void declare(CLI::App& app, RawQuestion& raw, Question& question) {
  auto& cluster = question.cluster;
  app.add_option("--ranks", cluster.ranks, "P, of all machines")
      ->check(CLI::Range(2, 1 << 20))
      ->required();
  app.add_option("--per-machine", cluster.ranks_per_machine, "n, ranks of each machine")
      ->check(CLI::Range(1, 1 << 20))
      ->required();
  app.add_option("--latency-us", raw.latency_us, "alpha, of one hop of a ring, in microseconds")
      ->check(apps::real_range(0.0, 1e6))
      ->required();
  as_rate(app.add_option("--intra", raw.intra_bps, "bandwidth inside of a machine, as in 80Gbit"))
      ->required();
  as_rate(app.add_option("--inter", raw.inter_bps, "bandwidth of a machine's link, as in 200Mbit"))
      ->required();
  as_size(app.add_option("--sizes", question.sizes, "bytes per rank, as in 64K,16M"))
      ->check(CLI::PositiveNumber)
      ->delimiter(',')
      ->default_str("64K,1M,16M");
  app.add_flag("--json", question.json, "one JSON document");
}

void interpret(const RawQuestion& raw, Question& question) {
  auto& cluster = question.cluster;
  if (cluster.ranks % cluster.ranks_per_machine != 0 ||
      cluster.ranks == cluster.ranks_per_machine) {
    throw CLI::ValidationError("--ranks",
                               "must be a multiple of --per-machine, of two machines or more");
  }
  cluster.hop_latency_s = raw.latency_us * 1e-6;
  cluster.intra_bandwidth_bytes_per_s = static_cast<double>(raw.intra_bps) / 8;
  cluster.inter_bandwidth_bytes_per_s = static_cast<double>(raw.inter_bps) / 8;
}

void report(const Question& question) {
  auto rows = nlohmann::ordered_json::array();
  for (const auto size : question.sizes) {
    const auto bytes = static_cast<double>(size);
    rows.push_back({{"bytes", size},
                    {"flat_ring_s", flat_ring_seconds(question.cluster, bytes)},
                    {"tencent_s", tencent_seconds(question.cluster, bytes)},
                    {"parallel_s", parallel_seconds(question.cluster, bytes)}});
  }
  if (question.json) {
    std::printf("%s\n", rows.dump(1).c_str());
    return;
  }
  std::printf("%12s %14s %14s %14s\n", "bytes", "flat ring (us)", "tencent (us)", "parallel (us)");
  for (const auto& row : rows) {
    std::printf("%12zu %14.1f %14.1f %14.1f\n", row["bytes"].get<std::size_t>(),
                row["flat_ring_s"].get<double>() * 1e6, row["tencent_s"].get<double>() * 1e6,
                row["parallel_s"].get<double>() * 1e6);
  }
}

}  // namespace

int model(int argc, char** argv) {
  CLI::App app(
      "How long an allreduce of machines with several ranks takes by the cost model of the "
      "NetReduce "
      "paper (appendix A): one ring of all ranks, Tencent all-reduce, parallel NetReduce.",
      "tributary-bench model");
  RawQuestion raw;
  Question question;
  declare(app, raw, question);
  try {
    apps::parse_decimal(app, argc, argv);
    interpret(raw, question);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : apps::exit_usage;
  }
  report(question);
  return 0;
}

}  // namespace tributary::bench
