// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace tributary::bench {
namespace {

double least_s(const Series& series) {
  return static_cast<double>(*std::min_element(series.times_ns.begin(), series.times_ns.end())) *
         1e-9;
}
double most_s(const Series& series) {
  return static_cast<double>(*std::max_element(series.times_ns.begin(), series.times_ns.end())) *
         1e-9;
}

const char* text(std::string_view name) {
  return name.data();
}  // all are literals

// The table of nccl-tests, with a column for the algorithm and, if the line rate is known, one for
// the share of line-rate goodput.
class NcclReport final : public Report {
 public:
  NcclReport(const Options& options, const Setting& setting)
      : options_(options), setting_(setting), with_share_(setting.line_rate_bps > 0) {}

  void begin() override {
    std::printf("# tributary-bench allreduce: ranks %u, iterations %zu, warm-up %zu, check %d\n",
                setting_.ranks, options_.iterations, options_.warmups, options_.check ? 1 : 0);
    std::printf("# payload efficiency %.4f (%zu of %zu bytes on the line)",
                setting_.payload_efficiency(), setting_.payload_bytes_max, setting_.line_bytes);
    if (with_share_) {
      std::printf(", line rate %.0f Mbit/s", static_cast<double>(setting_.line_rate_bps) * 1e-6);
    }
    std::printf("\n# time: mean over iterations of the slowest rank; busbw: ring-equivalent%s\n",
                with_share_ ? "; share: algbw / (payload efficiency x line rate)" : "");
    const char* share_name = with_share_ ? "   share" : "";
    const char* share_unit = with_share_ ? "     (%)" : "";
    const int half = with_share_ ? 46 : 38;
    std::printf("#\n# %9s %10s %12s %6s %6s  %*s  %*s\n", "", "", "", "", "", half, "out-of-place",
                half, "in-place");
    std::printf("# %9s %10s %12s %6s %6s", "algorithm", "size", "count", "type", "redop");
    for (int i = 0; i < 2; ++i) {
      std::printf("  %10s %8s%s %8s %8s", "time", "algbw", share_name, "busbw", "#wrong");
    }
    std::printf("\n# %9s %10s %12s %6s %6s", "", "(B)", "(elements)", "", "");
    for (int i = 0; i < 2; ++i) {
      std::printf("  %10s %8s%s %8s %8s", "(us)", "(GB/s)", share_unit, "(GB/s)", "");
    }
    std::printf("\n");
    std::fflush(stdout);
  }

  void row(const Row& row) override {
    std::printf("  %9s %10zu %12zu %6s %6s", name(row.algorithm), row.bytes(), row.count,
                text(wire::name(row.type)), text(wire::name(row.op)));
    half(row, row.out_of_place);
    half(row, row.in_place);
    std::printf("\n");
    std::fflush(stdout);  // a row a time, also into a pipe
  }

  void end() override {
    if (options_.check) {
      std::printf("# Out of bounds values : %llu %s\n", static_cast<unsigned long long>(wrong_),
                  wrong_ == 0 ? "OK" : "FAILED");
    }
    std::printf("# Avg bus bandwidth    : %.4f (ring-equivalent)\n",
                series_ == 0 ? 0.0 : busbw_ / static_cast<double>(series_) * 1e-9);
    std::fflush(stdout);
  }

 private:
  void half(const Row& row, const Series& series) {
    std::printf("  %10.1f %8.5f", series.mean_s() * 1e6, setting_.algbw(row, series) * 1e-9);
    if (with_share_) {
      std::printf(" %7.1f", setting_.share(row, series) * 100);
    }
    std::printf(" %8.5f ", setting_.busbw(row, series) * 1e-9);
    if (options_.check) {
      std::printf("%8llu", static_cast<unsigned long long>(series.wrong));
    } else {
      std::printf("%8s", "N/A");
    }
    wrong_ += series.wrong;
    busbw_ += setting_.busbw(row, series);
    ++series_;
  }

  const Options& options_;
  const Setting setting_;
  const bool with_share_;
  std::uint64_t wrong_ = 0;
  double busbw_ = 0;
  std::size_t series_ = 0;
};

// As osu_allreduce -f prints it; out of place, as there.
class OsuReport final : public Report {
 public:
  explicit OsuReport(const Options& options) : options_(options) {}

  void row(const Row& row) override {
    const std::string title = std::string(name(row.algorithm)) + ", " + text(wire::name(row.type)) +
                              ", " + text(wire::name(row.op));
    if (title != title_) {
      title_ = title;
      std::printf("\n# Tributary Allreduce Latency Test (%s), OSU layout\n", title.c_str());
      std::printf("%-10s%18s%18s%18s%12s%10s\n", "# Size", "Avg Latency(us)", "Min Latency(us)",
                  "Max Latency(us)", "Iterations", "#wrong");
    }
    const Series& series = row.out_of_place;
    std::printf("%-10zu%18.2f%18.2f%18.2f%12zu", row.bytes(), series.mean_s() * 1e6,
                least_s(series) * 1e6, most_s(series) * 1e6, series.times_ns.size());
    if (options_.check) {
      std::printf("%10llu\n", static_cast<unsigned long long>(series.wrong + row.in_place.wrong));
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
        "algorithm,ranks,size,count,type,redop,placement,iterations,time_us,time_min_us,"
        "time_median_us,time_max_us,algbw_gbytes_per_s,busbw_ring_equivalent_gbytes_per_s,"
        "share_of_line_rate_goodput,wrong\n");
  }
  void row(const Row& row) override {
    line(row, row.out_of_place, "out-of-place");
    line(row, row.in_place, "in-place");
    std::fflush(stdout);
  }

 private:
  void line(const Row& row, const Series& series, const char* placement) {
    std::printf("%s,%u,%zu,%zu,%s,%s,%s,%zu,%.3f,%.3f,%.3f,%.3f,%.6f,%.6f,", name(row.algorithm),
                setting_.ranks, row.bytes(), row.count, text(wire::name(row.type)),
                text(wire::name(row.op)), placement, series.times_ns.size(), series.mean_s() * 1e6,
                least_s(series) * 1e6, series.median_s() * 1e6, most_s(series) * 1e6,
                setting_.algbw(row, series) * 1e-9, setting_.busbw(row, series) * 1e-9);
    if (setting_.line_rate_bps > 0) {
      std::printf("%.4f", setting_.share(row, series));
    }
    std::printf(",");
    if (options_.check) {
      std::printf("%llu", static_cast<unsigned long long>(series.wrong));
    }
    std::printf("\n");
  }

  const Options& options_;
  const Setting setting_;
};

class JsonReport final : public Report {
 public:
  JsonReport(const Options& options, const Setting& setting, std::unique_ptr<std::ofstream> file)
      : options_(options), setting_(setting), file_(std::move(file)) {
    document_["version"] = 1;
    document_["collective"] = "allreduce";
    document_["ranks"] = setting.ranks;
    document_["iterations"] = options.iterations;
    document_["warmup_iterations"] = options.warmups;
    document_["check"] = options.check;
    document_["payload_bytes_max"] = setting.payload_bytes_max;
    document_["payload_efficiency"] = setting.payload_efficiency();
    if (setting.line_rate_bps > 0) {
      document_["line_rate_bps"] = setting.line_rate_bps;
    }
    document_["rows"] = nlohmann::ordered_json::array();
  }

  void row(const Row& row) override {
    document_["rows"].push_back({{"algorithm", name(row.algorithm)},
                                 {"size", row.bytes()},
                                 {"count", row.count},
                                 {"type", wire::name(row.type)},
                                 {"redop", wire::name(row.op)},
                                 {"out_of_place", figures(row, row.out_of_place)},
                                 {"in_place", figures(row, row.in_place)}});
  }
  void end() override {
    std::ostream& out = file_ ? *file_ : std::cout;
    out << document_.dump(1) << std::endl;
  }

 private:
  nlohmann::ordered_json figures(const Row& row, const Series& series) const {
    nlohmann::ordered_json figures = {
        {"time_us", series.mean_s() * 1e6},
        {"time_median_us", series.median_s() * 1e6},
        {"times_ns", series.times_ns},
        {"algbw_bytes_per_s", setting_.algbw(row, series)},
        {"busbw_ring_equivalent_bytes_per_s", setting_.busbw(row, series)}};
    if (setting_.line_rate_bps > 0) {
      figures["share_of_line_rate_goodput"] = setting_.share(row, series);
    }
    if (options_.check) {
      figures["wrong"] = series.wrong;
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
  return algbw(row, series) * 2 * (ranks - 1) / ranks;
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
  return std::make_unique<NcclReport>(options, setting);
}

std::unique_ptr<Report> Report::make_record(const Options& options, const Setting& setting) {
  auto file = std::make_unique<std::ofstream>(options.record);
  if (!*file) {
    return nullptr;
  }
  return std::make_unique<JsonReport>(options, setting, std::move(file));
}

}  // namespace tributary::bench
