// SPDX-License-Identifier: BSD-3-Clause
#include "report_nccl.h"

#include <cstdio>
#include <vector>

namespace tributary::bench {
namespace {

using Count = unsigned long long;  // for printf

void print_totals(const Totals& totals) {
  for (const auto& line : lines_of(totals)) {
    std::printf("# %s\n", line.c_str());
  }
}

void print_head(const Options& options, const Setting& setting) {
  std::printf("# tributary-bench %s: ranks %u, iterations %zu, warm-up %zu, check %d",
              name(options.collective), setting.ranks, options.iterations, options.warmups,
              options.check ? 1 : 0);
  if (options.is_sparse()) {
    std::printf(", density %g", options.density);
  }
  if (options.is_sketched()) {
    std::printf(", %u bits", options.sketch.bits);
    if (options.low_rank != 0) {
      std::printf(", factors of rank %zu", options.low_rank);
    }
  }
  std::printf("\n");
}

void print_wrong(const Options& options, std::uint64_t wrong) {
  if (options.check) {
    std::printf("# Out of bounds values : %llu %s\n", Count{wrong}, wrong == 0 ? "OK" : "FAILED");
  }
}

// Prints what sketches took instead of the vectors.
void print_saved(const Figures& figures) {
  const auto floats = figures["sketch_bytes_of_floats"];
  if (floats != 0) {
    std::printf("# Bytes of sketches     : %llu, %.2f %% of those of the vectors\n",
                Count{figures["sketch_bytes"]},
                100.0 * static_cast<double>(figures["sketch_bytes"]) / static_cast<double>(floats));
  }
}

void print_column(const Options& options, std::uint64_t wrong) {
  if (options.check) {
    std::printf("%8llu", Count{wrong});
  } else {
    std::printf("%8s", "N/A");
  }
}

class NcclReport final : public Report {
 public:
  NcclReport(const Options& options, const Setting& setting)
      : options_(options), setting_(setting), with_share_(setting.line_rate_bps > 0) {
    if (options.has_out_of_place()) {
      placements_.push_back("out-of-place");
    }
    placements_.push_back("in-place");
  }

  void begin() override {
    print_head(options_, setting_);
    std::printf("# payload efficiency %.4f (%zu of %zu bytes on the line)",
                setting_.payload_efficiency(), setting_.payload_bytes_max, setting_.line_bytes);
    if (with_share_) {
      std::printf(", line rate %.0f Mbit/s", static_cast<double>(setting_.line_rate_bps) * 1e-6);
    }
    std::printf("\n# time: mean over iterations of the slowest rank; busbw: ring-equivalent%s\n",
                with_share_ ? "; share: algbw / (payload efficiency x line rate)" : "");
    if (options_.is_sketched()) {
      std::printf("# error: root mean square, of that of the exact sum\n");
    }
    print_columns();
    std::fflush(stdout);
  }

  void row(const Row& row) override {
    std::printf("  %9s %10zu %12zu %6s %6s", row.algorithm.c_str(), row.bytes(), row.count,
                text(wire::name(row.type)),
                options_.has_operator() ? text(wire::name(row.op)) : "none");
    if (options_.has_root()) {
      std::printf(" %6u", row.root);
    }
    if (options_.has_out_of_place()) {
      half(row, row.out_of_place);
    }
    half(row, row.in_place);
    std::printf("\n");
    std::fflush(stdout);  // one row at a time, also into a pipe
  }

  Result<void> end(const Totals& totals) override {
    print_wrong(options_, wrong_);
    std::printf("# Avg bus bandwidth    : %.4f (ring-equivalent)\n",
                series_ == 0 ? 0.0 : busbw_ / static_cast<double>(series_) * 1e-9);
    print_saved(totals.all_ranks);
    print_totals(totals);
    std::fflush(stdout);
    return {};
  }

 private:
  void print_columns() const {
    const char* share_name = with_share_ ? "   share" : "";
    const char* share_unit = with_share_ ? "     (%)" : "";
    const char* root = options_.has_root() ? "   root" : "";
    const int root_width = options_.has_root() ? 7 : 0;
    const char* error_name = options_.is_sketched() ? "    error" : "";
    const char* error_unit = options_.is_sketched() ? "      (%)" : "";
    const int half = (with_share_ ? 46 : 38) + (options_.is_sketched() ? 9 : 0);
    std::printf("#\n# %9s %10s %12s %6s %6s%*s", "", "", "", "", "", root_width, "");
    for (const char* placement : placements_) {
      std::printf("  %*s", half, placement);
    }
    std::printf("\n# %9s %10s %12s %6s %6s%s", "algorithm", "size", "count", "type", "redop", root);
    for (std::size_t i = 0; i < placements_.size(); ++i) {
      std::printf("  %10s %8s%s %8s %8s%s", "time", "algbw", share_name, "busbw", "#wrong",
                  error_name);
    }
    std::printf("\n# %9s %10s %12s %6s %6s%*s", "", "(B)", "(elements)", "", "", root_width, "");
    for (std::size_t i = 0; i < placements_.size(); ++i) {
      std::printf("  %10s %8s%s %8s %8s%s", "(us)", "(GB/s)", share_unit, "(GB/s)", "", error_unit);
    }
    std::printf("\n");
  }

  void half(const Row& row, const Series& series) {
    std::printf("  %10.1f %8.5f", series.mean_s() * 1e6, setting_.algbw(row, series) * 1e-9);
    if (with_share_) {
      std::printf(" %7.1f", setting_.share(row, series) * 100);
    }
    std::printf(" %8.5f ", setting_.busbw(row, series) * 1e-9);
    print_column(options_, series.wrong);
    if (options_.is_sketched() && options_.check) {
      std::printf(" %8.3f", 100 * series.relative_error);
    } else if (options_.is_sketched()) {
      std::printf(" %8s", "N/A");
    }
    wrong_ += series.wrong;
    busbw_ += setting_.busbw(row, series);
    ++series_;
  }

  const Options& options_;
  const Setting setting_;
  const bool with_share_;
  std::vector<const char*> placements_;
  std::uint64_t wrong_ = 0;
  double busbw_ = 0;
  std::size_t series_ = 0;
};

// A barrier moves nothing: the report only has how long it takes.
class BarrierReport final : public Report {
 public:
  BarrierReport(const Options& options, const Setting& setting)
      : options_(options), setting_(setting) {}

  void begin() override {
    print_head(options_, setting_);
    std::printf("# of the slowest rank; #wrong: ranks that left before a late one had come\n#\n");
    std::printf("# %9s  %10s %10s %10s %10s %8s\n", "algorithm", "mean", "median", "least", "most",
                "#wrong");
    std::printf("# %9s  %10s %10s %10s %10s\n", "", "(us)", "(us)", "(us)", "(us)");
    std::fflush(stdout);
  }
  void row(const Row& row) override {
    const auto& series = row.in_place;
    std::printf("  %9s  %10.1f %10.1f %10.1f %10.1f ", row.algorithm.c_str(), series.mean_s() * 1e6,
                series.median_s() * 1e6, series.least_s() * 1e6, series.most_s() * 1e6);
    print_column(options_, series.wrong);
    std::printf("\n");
    std::fflush(stdout);
    wrong_ += series.wrong;
  }
  Result<void> end(const Totals& totals) override {
    print_wrong(options_, wrong_);
    print_totals(totals);
    std::fflush(stdout);
    return {};
  }

 private:
  const Options& options_;
  const Setting setting_;
  std::uint64_t wrong_ = 0;
};

}  // namespace

std::unique_ptr<Report> make_nccl_report(const Options& options, const Setting& setting) {
  if (options.collective == Collective::barrier) {
    return std::make_unique<BarrierReport>(options, setting);
  }
  return std::make_unique<NcclReport>(options, setting);
}

}  // namespace tributary::bench
