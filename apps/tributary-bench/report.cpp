// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "host/text.h"
#include "report_nccl.h"

namespace tributary::bench {
namespace {

// Returns what a row was reduced with; broadcasts and barriers reduce nothing.
const char* redop(const Options& options, const Row& row) {
  return options.has_operator() ? text(wire::name(row.op)) : "none";
}

// This prints as osu_allreduce -f does; out of place, as there, if there is such a thing.
class OsuReport final : public Report {
 public:
  explicit OsuReport(const Options& options) : options_(options) {}

  void row(const Row& row) override {
    const std::string title =
        row.algorithm + ", " + text(wire::name(row.type)) + ", " + redop(options_, row);
    if (title != title_) {
      title_ = title;
      std::string collective = name(options_.collective);
      collective[0] = static_cast<char>(collective[0] - 'a' + 'A');
      std::printf("\n# Tributary %s Latency Test (%s), OSU layout\n", collective.c_str(),
                  title.c_str());
      std::printf("%-10s%18s%18s%18s%12s%10s\n", "# Size", "Avg Latency(us)", "Min Latency(us)",
                  "Max Latency(us)", "Iterations", "#wrong");
    }
    const Series& series = options_.has_out_of_place() ? row.out_of_place : row.in_place;
    std::printf("%-10zu%18.2f%18.2f%18.2f%12zu", row.bytes(), series.mean_s() * 1e6,
                series.least_s() * 1e6, series.most_s() * 1e6, series.times_ns.size());
    if (options_.check) {
      std::printf("%10llu\n", static_cast<unsigned long long>(row.wrong()));
    } else {
      std::printf("%10s\n", "N/A");
    }
    std::fflush(stdout);
  }

 private:
  const Options& options_;
  std::string title_;
};

class CsvReport final : public Report {
 public:
  CsvReport(const Options& options, const Setting& setting)
      : options_(options), setting_(setting) {}

  void begin() override {
    std::printf(
        "collective,algorithm,ranks,size,count,type,redop,root,placement,iterations,time_us,time_"
        "min_us,"
        "time_median_us,time_max_us,algbw_gbytes_per_s,busbw_ring_equivalent_gbytes_per_s,"
        "share_of_line_rate_goodput,wrong%s\n",
        options_.is_sketched() ? ",relative_error" : "");
  }
  void row(const Row& row) override {
    if (options_.has_out_of_place()) {
      line(row, row.out_of_place, "out-of-place");
    }
    line(row, row.in_place, "in-place");
    std::fflush(stdout);
  }

 private:
  void line(const Row& row, const Series& series, const char* placement) {
    const auto root = options_.has_root() ? std::to_string(row.root) : "";
    std::printf("%s,%s,%u,%zu,%zu,%s,%s,%s,%s,%zu,%.3f,%.3f,%.3f,%.3f,%.6f,%.6f,",
                name(options_.collective), row.algorithm.c_str(), setting_.ranks, row.bytes(),
                row.count, text(wire::name(row.type)), redop(options_, row), root.c_str(),
                placement, series.times_ns.size(), series.mean_s() * 1e6, series.least_s() * 1e6,
                series.median_s() * 1e6, series.most_s() * 1e6, setting_.algbw(row, series) * 1e-9,
                setting_.busbw(row, series) * 1e-9);
    if (setting_.line_rate_bps > 0) {
      std::printf("%.4f", setting_.share(row, series));
    }
    std::printf(",");
    if (options_.check) {
      std::printf("%llu", static_cast<unsigned long long>(series.wrong));
    }
    if (options_.is_sketched() && options_.check) {
      std::printf(",%.4g", series.relative_error);
    } else if (options_.is_sketched()) {
      std::printf(",");
    }
    std::printf("\n");
  }

  const Options& options_;
  const Setting setting_;
};

nlohmann::ordered_json json_of(const Figures& figures) {
  auto object = nlohmann::ordered_json::object();
  for (const auto& figure : figures) {
    std::visit([&](const auto& value) { object[figure.name] = value; }, figure.value);
  }
  return object;
}

nlohmann::ordered_json json_of(const ProtocolStatistics& of) {
  auto object = json_of(of.figures);
  for (const auto& tree : of.trees) {
    object["trees"].push_back(json_of(tree));
  }
  return object;
}

class JsonReport final : public Report {
 public:
  JsonReport(const Options& options, const Setting& setting, std::unique_ptr<std::ofstream> file)
      : options_(options), setting_(setting), file_(std::move(file)) {
    document_["version"] = 1;
    document_["collective"] = name(options.collective);
    document_["ranks"] = setting.ranks;
    document_["iterations"] = options.iterations;
    document_["warmup_iterations"] = options.warmups;
    document_["check"] = options.check;
    if (options.communicator.reproducible) {
      document_["reproducible"] = true;
    }
    if (options.is_sparse()) {
      document_["density"] = options.density;
    }
    if (options.is_sketched()) {
      document_["sketch"] = {
          {"kind", options.sketch.kind == SketchKind::grid ? "grid" : "quantiles"},
          {"bits", options.sketch.bits},
          {"rounding", options.sketch.rounding == Rounding::nearest ? "nearest" : "stochastic"},
          {"seed", options.sketch.seed},
          {"low_rank", options.low_rank}};
    }
    document_["payload_bytes_max"] = setting.payload_bytes_max;
    document_["payload_efficiency"] = setting.payload_efficiency();
    if (setting.line_rate_bps > 0) {
      document_["line_rate_bps"] = setting.line_rate_bps;
    }
    document_["rows"] = nlohmann::ordered_json::array();
  }

  void row(const Row& row) override {
    nlohmann::ordered_json entry = {{"algorithm", row.algorithm},
                                    {"size", row.bytes()},
                                    {"count", row.count},
                                    {"type", wire::name(row.type)},
                                    {"redop", redop(options_, row)}};
    if (options_.has_root()) {
      entry["root"] = row.root;
    }
    if (const auto matrix = options_.matrix_of(row.count)) {
      entry["columns"] = matrix->columns;
    }
    if (options_.has_out_of_place()) {
      entry["out_of_place"] = figures(row, row.out_of_place);
    }
    entry["in_place"] = figures(row, row.in_place);
    document_["rows"].push_back(std::move(entry));
  }

  Result<void> end(const Totals& totals) override {
    document_["statistics"] = json_of(totals.all_ranks);
    if (!totals.own.protocol.empty()) {
      document_[totals.own.protocol] = json_of(totals.own);
    }
    auto& stream = file_ ? static_cast<std::ostream&>(*file_) : std::cout;
    stream << document_.dump(1) << std::endl;
    return stream ? Result<void>() : host::invalid("the JSON document cannot be written in full");
  }

 private:
  nlohmann::ordered_json figures(const Row& row, const Series& series) const {
    nlohmann::ordered_json figures = {
        {"time_us", series.mean_s() * 1e6},
        {"time_median_us", series.median_s() * 1e6},
        {"times_ns", series.times_ns},
        {"started_ns", series.started_ns},
        {"algbw_bytes_per_s", setting_.algbw(row, series)},
        {"busbw_ring_equivalent_bytes_per_s", setting_.busbw(row, series)}};
    if (setting_.line_rate_bps > 0) {
      figures["share_of_line_rate_goodput"] = setting_.share(row, series);
    }
    if (options_.check) {
      figures["wrong"] = series.wrong;
    }
    if (options_.check && options_.is_sketched()) {
      figures["relative_error"] = series.relative_error;
    }
    return figures;
  }

  const Options& options_;
  const Setting setting_;
  std::unique_ptr<std::ofstream> file_;  // null: standard output
  nlohmann::ordered_json document_;
};

}  // namespace

double Setting::algbw(const Row& row, const Series& series) const {
  const double time_s = series.mean_s();
  return time_s > 0 ? static_cast<double>(row.bytes()) / time_s : 0;
}

double Setting::busbw(const Row& row, const Series& series) const {
  const bool twice = collective == Collective::allreduce ||
                     collective == Collective::sparse_allreduce ||
                     collective == Collective::sketched_allreduce;
  return algbw(row, series) * (twice ? 2.0 * (ranks - 1) / ranks : 1.0);
}

double Setting::share(const Row& row, const Series& series) const {
  const double goodput = payload_efficiency() * static_cast<double>(line_rate_bps);
  return goodput > 0 ? algbw(row, series) * 8 / goodput : 0;  // a single rank sends nothing
}

std::unique_ptr<Report> Report::make(const Options& options, const Setting& setting) {
  switch (options.layout) {
    case Layout::osu:
      return std::make_unique<OsuReport>(options);
    case Layout::csv:
      return std::make_unique<CsvReport>(options, setting);
    case Layout::json:
      return std::make_unique<JsonReport>(options, setting, nullptr);
    case Layout::nccl:
      break;
  }
  return make_nccl_report(options, setting);
}

std::unique_ptr<Report> Report::make_record(const Options& options, const Setting& setting) {
  auto file = std::make_unique<std::ofstream>(options.record);
  if (!*file) {
    return nullptr;
  }
  return std::make_unique<JsonReport>(options, setting, std::move(file));
}

}  // namespace tributary::bench
