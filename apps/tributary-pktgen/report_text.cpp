// SPDX-License-Identifier: BSD-3-Clause
// This is the report for people: a table that is refreshed on a terminal, a line for each interval
// elsewhere, and a summary.
#include <algorithm>
#include <cstdio>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report.h"

namespace tributary::pktgen {
namespace {

unsigned long long ull(std::uint64_t value) {
  return static_cast<unsigned long long>(value);
}

// Some terminals do not know their size.
winsize screen_of(FILE* file) {
  winsize screen = {};
  if (ioctl(fileno(file), TIOCGWINSZ, &screen) != 0 || screen.ws_row == 0 || screen.ws_col == 0) {
    screen.ws_row = 24;
    screen.ws_col = 80;
  }
  return screen;
}

// A Speed is what the counters of a trial grew by since the last reading, per second.
class Speed {
 public:
  void update(const Reading& reading) {
    const auto& now = reading.view.now;
    const bool warms_up = reading.view.phase == traffic::Trial::Phase::warm_up;
    const bool same =
        reading.view.trial == trial_ && warms_up == warmed_up_ && now.seconds >= last_.seconds;
    const double since = same ? last_.seconds : 0;
    const traffic::Counters before = same ? last_.counters : traffic::Counters{};
    const double elapsed = now.seconds - since;
    const auto per_second = [&](std::uint64_t after, std::uint64_t earlier) {
      return elapsed > 0 ? static_cast<double>(after - earlier) / elapsed : 0;
    };
    packets = per_second(now.counters.packets, before.packets);
    line_bits = 8 * per_second(now.counters.line_bytes, before.line_bytes);
    done = per_second(now.counters.done, before.done);
    last_.seconds = now.seconds;
    last_.counters = now.counters;
    trial_ = reading.view.trial;
    warmed_up_ = warms_up;
  }

  double packets = 0;
  double line_bits = 0;
  double done = 0;

 private:
  struct {
    double seconds = 0;
    traffic::Counters counters;
  } last_;
  std::size_t trial_ = 0;
  bool warmed_up_ = false;
};

class TextReport final : public Report {
 public:
  explicit TextReport(const Options& options)
      : options_(options),
        out_(options.json == "-" || options.csv == "-" ? stderr : stdout),
        live_(isatty(fileno(out_)) == 1) {}

  void refresh(const Reading& reading) override {
    if (options_.quiet) {
      return;
    }
    if (reading.view.finding_neighbours) {
      std::fprintf(out_, "announcing hosts, asking for gateways\n");
      return;
    }
    speed_.update(reading);
    if (live_) {
      table(reading);
    } else {
      line(reading);
    }
    std::fflush(out_);
  }

  void trial(const traffic::TrialResult& result, std::size_t number, double /*seconds*/) override {
    if (!options_.session.search || options_.quiet) {
      return;
    }
    rows_ = 0;
    std::fprintf(out_, "trial %zu at %s: %.4g Mpps, loss %.4f %% (%llu of %llu %s)\n", number,
                 to_string(result.rate).c_str(), result.packets_per_second() / 1e6,
                 result.loss() * 100, ull(result.lost()), ull(result.counters.begun),
                 options_.kind->unit());
    std::fflush(out_);
  }

  tl::expected<void, std::string> end(const Outcome& outcome) override {
    if (options_.session.search) {
      found(outcome);
    } else if (!outcome.trials.empty()) {
      summary(outcome.trials.back());
    }
    for (std::size_t i = 0; i < outcome.ports.size(); ++i) {
      const auto& port = outcome.ports[i];
      std::fprintf(out_, "port %zu (%s): sent %llu, received %llu, unsent %llu, missed %llu\n", i,
                   outcome.port_names[i].c_str(), ull(port.sent), ull(port.received),
                   ull(port.unsent), ull(port.missed));
    }
    if (std::fflush(out_) != 0 || std::ferror(out_) != 0) {
      return tl::unexpected(std::string("cannot write the summary to standard output"));
    }
    return {};
  }

 private:
  // A row neither wraps nor scrolls: the next table is drawn over what this one took.
  void row(const char* label, const std::string& text) {
    if (rows_ + 1 >= screen_.ws_row) {
      return;
    }
    auto line = TextReport::text("  %-12s ", label) + text;
    line.resize(std::min<std::size_t>(line.size(), screen_.ws_col - 1u));
    std::fprintf(out_, "\033[K%s\n", line.c_str());
    ++rows_;
  }

  template <typename... Values>
  static std::string text(const char* format, Values... values) {
    char buffer[160];
    std::snprintf(buffer, sizeof buffer, format, values...);
    return buffer;
  }

  // The table is drawn over the one before.
  void table(const Reading& reading) {
    if (rows_ > 0) {
      std::fprintf(out_, "\033[%dA", rows_);
    }
    rows_ = 0;
    screen_ = screen_of(out_);
    const auto& now = reading.view.now;
    const auto& counters = now.counters;
    const char* unit = options_.kind->unit();
    row("trial", text("%zu, %s, %.1f s at %s", reading.view.trial, name_of(reading.view.phase),
                      now.seconds, to_string(now.rate).c_str()));
    row("sending",
        text("%.4f Mpps, %.4f Gbit/s on the line", speed_.packets / 1e6, speed_.line_bits / 1e9));
    row(unit, text("%.4f M/s; begun %llu, done %llu, missing %llu, late %llu", speed_.done / 1e6,
                   ull(counters.begun), ull(counters.done), ull(now.lost()), ull(counters.late)));
    row("latency", text("p50 %.1f us, p99 %.1f us, max %.1f us", in_us(now.latency.percentile(50)),
                        in_us(now.latency.percentile(99)), in_us(now.latency.max())));
    row("wrong", text("%llu", ull(now.wrong)));
    for (std::size_t i = 0; i < reading.ports.size(); ++i) {
      const auto& port = reading.ports[i];
      row(text("port %zu", i).c_str(),
          text("sent %llu, received %llu, unsent %llu, missed %llu", ull(port.sent),
               ull(port.received), ull(port.unsent), ull(port.missed)));
    }
  }

  void line(const Reading& reading) const {
    const auto& now = reading.view.now;
    std::fprintf(out_,
                 "%7.1f s  %-7s  %9.4f Mpps  %8.4f Gbit/s  done %llu  missing %llu  wrong %llu  "
                 "p50 %.1f us  p99 %.1f us\n",
                 reading.seconds, name_of(reading.view.phase), speed_.packets / 1e6,
                 speed_.line_bits / 1e9, ull(now.counters.done), ull(now.lost()), ull(now.wrong),
                 in_us(now.latency.percentile(50)), in_us(now.latency.percentile(99)));
  }

  void summary(const traffic::TrialResult& result) const {
    const char* unit = options_.kind->unit();
    const auto& latency = result.latency;
    std::fprintf(out_, "sent %llu packets in %.3f s: %.6g Mpps, %.6g Gbit/s on the line\n",
                 ull(result.counters.packets), result.seconds, result.packets_per_second() / 1e6,
                 result.line_bits_per_second() / 1e9);
    if (!result.rate.is_unlimited()) {
      std::fprintf(out_, "asked for %s: %.1f %% of it reached\n", to_string(result.rate).c_str(),
                   100 * result.reached());
    }
    std::fprintf(out_, "%s: begun %llu, done %llu (%.6g M/s), lost %llu (%.4f %%), late %llu\n",
                 unit, ull(result.counters.begun), ull(result.counters.done),
                 result.done_per_second() / 1e6, ull(result.lost()), result.loss() * 100,
                 ull(result.counters.late));
    if (latency.count() > 0) {
      std::fprintf(
          out_, "latency: min %.1f, p50 %.1f, p90 %.1f, p99 %.1f, p99.9 %.1f, max %.1f us\n",
          in_us(latency.min()), in_us(latency.percentile(50)), in_us(latency.percentile(90)),
          in_us(latency.percentile(99)), in_us(latency.percentile(99.9)), in_us(latency.max()));
    }
    for (const auto& figure : result.figures) {
      if (figure.value != 0) {
        std::fprintf(out_, "%.*s: %llu\n", static_cast<int>(figure.name.size()), figure.name.data(),
                     ull(figure.value));
      }
    }
    if (options_.kind->checks_results()) {
      std::fprintf(out_, "wrong results: %llu\n", ull(result.wrong));
    }
  }

  void found(const Outcome& outcome) const {
    const char* what = options_.mode() == traffic::Mode::ndr ? "NDR" : "PDR";
    if (outcome.best == nullptr) {
      std::fprintf(out_, "%s: none of the rates passed\n", what);
      return;
    }
    std::fprintf(out_, "%s: %.6g Mpps, %.6g Gbit/s on the line\n", what,
                 outcome.best->packets_per_second() / 1e6,
                 outcome.best->line_bits_per_second() / 1e9);
    summary(*outcome.best);
  }

  const Options& options_;
  FILE* out_;
  bool live_;
  Speed speed_;
  int rows_ = 0;
  winsize screen_{};
};

}  // namespace

std::unique_ptr<Report> make_text_report(const Options& options) {
  return std::make_unique<TextReport>(options);
}

}  // namespace tributary::pktgen
