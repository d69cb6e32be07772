// SPDX-License-Identifier: BSD-3-Clause
// These are the reports for programs: JSON and CSV.
#include <cstdio>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "output_file.h"
#include "report.h"

namespace tributary::pktgen {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const traffic::Rate& rate) {
  if (rate.is_unlimited()) {
    return {{"unit", "unlimited"}};
  }
  const bool packets = rate.unit == traffic::Rate::Unit::packets;
  return {{"unit", packets ? "packets_per_second" : "line_bits_per_second"},
          {"value", rate.per_second}};
}

Json json_of(const traffic::Histogram& latency) {
  Json document = {{"count", latency.count()}, {"min_us", in_us(latency.min())}};
  document["mean_us"] = latency.mean() / 1000;
  for (const auto& [key, percent] :
       {std::pair{"p50_us", 50.0}, {"p90_us", 90.0}, {"p99_us", 99.0}, {"p99_9_us", 99.9}}) {
    document[key] = in_us(latency.percentile(percent));
  }
  document["max_us"] = in_us(latency.max());
  return document;
}

Json json_of(const traffic::TrialResult& trial, const char* unit) {
  Json figures = Json::object();
  for (const auto& figure : trial.figures) {
    figures[std::string(figure.name)] = figure.value;
  }
  return {{"rate", json_of(trial.rate)},
          {"seconds", trial.seconds},
          {"packets", trial.counters.packets},
          {"packets_per_second", trial.packets_per_second()},
          {"line_bits_per_second", trial.line_bits_per_second()},
          {"unit", unit},
          {"begun", trial.counters.begun},
          {"done", trial.counters.done},
          {"done_per_second", trial.done_per_second()},
          {"lost", trial.lost()},
          {"loss", trial.loss()},
          {"late", trial.counters.late},
          {"foreign_packets", trial.counters.foreign},
          {"no_buffer", trial.counters.no_buffer},
          {"latency", json_of(trial.latency)},
          {"figures", figures},
          {"cut_short", trial.cut_short}};
}

Json json_of(const PortCounters& port, const std::string& name) {
  return {{"device", name},
          {"sent_packets", port.sent},
          {"sent_line_bytes", port.sent_line_bytes},
          {"received_packets", port.received},
          {"received_line_bytes", port.received_line_bytes},
          {"unsent_packets", port.unsent},
          {"missed_packets", port.missed}};
}

class JsonReport final : public Report {
 public:
  JsonReport(const Options& options, OutputFile file) : options_(options), file_(std::move(file)) {}

  tl::expected<void, std::string> end(const Outcome& outcome) override {
    const char* unit = options_.kind->unit();
    Json document = {{"mode", name_of(options_.mode())}, {"traffic", options_.kind->name()}};
    document["mtu"] = options_.conditions.mtu;
    document.update(options_.kind->settings());
    document["trials"] = Json::array();
    for (const auto& trial : outcome.trials) {
      document["trials"].push_back(json_of(trial, unit));
    }
    if (options_.session.search) {
      document["best"] = outcome.best == nullptr ? Json() : json_of(*outcome.best, unit);
    }
    document["ports"] = Json::array();
    for (std::size_t i = 0; i < outcome.ports.size(); ++i) {
      document["ports"].push_back(json_of(outcome.ports[i], outcome.port_names[i]));
    }
    document["wrong"] = outcome.trials.empty() ? 0 : outcome.trials.back().wrong;
    std::fprintf(file_.get(), "%s\n", document.dump(1).c_str());
    return flush_output(file_.get(), "--json", options_.json);
  }

 private:
  const Options& options_;
  OutputFile file_;
};

class CsvReport final : public Report {
 public:
  CsvReport(const Options& options, OutputFile file) : options_(options), file_(std::move(file)) {
    std::fprintf(file_.get(),
                 "time_s,trial,phase,rate,seconds,packets,line_bytes,begun,done,wrong,"
                 "latency_p50_us,latency_p99_us,latency_max_us,loss\n");
  }

  void refresh(const Reading& reading) override {
    if (!reading.view.finding_neighbours) {
      row(reading.seconds, reading.view.now, reading.view.trial, name_of(reading.view.phase));
      std::fflush(file_.get());  // for readers that follow the file; end() tells of failures
    }
  }
  void trial(const traffic::TrialResult& result, std::size_t number, double seconds) override {
    row(seconds, result, number, name_of(traffic::Trial::Phase::done));
  }
  tl::expected<void, std::string> end(const Outcome& /*outcome*/) override {
    return flush_output(file_.get(), "--csv", options_.csv);
  }

 private:
  void row(double time, const traffic::TrialResult& result, std::size_t number, const char* phase) {
    const auto ull = [](std::uint64_t value) { return static_cast<unsigned long long>(value); };
    const auto& latency = result.latency;
    std::fprintf(file_.get(), "%.3f,%zu,%s,%s,%.3f,%llu,%llu,%llu,%llu,%llu,%.3f,%.3f,%.3f,%.6f\n",
                 time, number, phase, to_string(result.rate).c_str(), result.seconds,
                 ull(result.counters.packets), ull(result.counters.line_bytes),
                 ull(result.counters.begun), ull(result.counters.done), ull(result.wrong),
                 in_us(latency.percentile(50)), in_us(latency.percentile(99)), in_us(latency.max()),
                 result.loss());
  }

  const Options& options_;
  OutputFile file_;
};

}  // namespace

tl::expected<std::unique_ptr<Report>, std::string> make_json_report(const Options& options) {
  auto file = open_output("--json", options.json);
  if (!file) {
    return tl::unexpected(file.error());
  }
  return std::make_unique<JsonReport>(options, std::move(*file));
}

tl::expected<std::unique_ptr<Report>, std::string> make_csv_report(const Options& options) {
  auto file = open_output("--csv", options.csv);
  if (!file) {
    return tl::unexpected(file.error());
  }
  return std::make_unique<CsvReport>(options, std::move(*file));
}

}  // namespace tributary::pktgen
