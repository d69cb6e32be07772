// SPDX-License-Identifier: BSD-3-Clause
// The reports for programs: JSON and CSV.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include <nlohmann/json.hpp>

#include "report.h"

namespace tributary::pktgen {
namespace {

using Json = nlohmann::ordered_json;

struct CloseFile {
  void operator()(FILE* file) const {
    if (file != stdout) {
      std::fclose(file);
    }
  }
};
using File = std::unique_ptr<FILE, CloseFile>;

tl::expected<File, std::string> open_file(const std::string& option, const std::string& name) {
  File file(name == "-" ? stdout : std::fopen(name.c_str(), "w"));
  if (file == nullptr) {
    return tl::unexpected("cannot write " + option + " " + name + ": " + std::strerror(errno));
  }
  return file;
}

// What failed before the last buffer is only to be seen on the stream.
tl::expected<void, std::string> flush(FILE* file, const std::string& option,
                                      const std::string& name) {
  if (std::fflush(file) != 0 || std::ferror(file) != 0) {
    return tl::unexpected("cannot write all of " + option + " " + name + "; is the disk full?");
  }
  return {};
}

double in_us(std::uint64_t ns) {
  return static_cast<double>(ns) / 1000;
}

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

Json json_of(const traffic::TrialResult& trial, Kind kind) {
  Json figures = Json::object();
  for (const auto& figure : trial.figures) {
    figures[std::string(figure.name)] = figure.value;
  }
  return {{"rate", json_of(trial.rate)},
          {"seconds", trial.seconds},
          {"packets", trial.counters.packets},
          {"packets_per_second", trial.packets_per_second()},
          {"line_bits_per_second", trial.line_bits_per_second()},
          {"unit", unit_of(kind)},
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

Json json_of(const std::vector<traffic::Reduction>& kinds) {
  Json list = Json::array();
  for (const auto& kind : kinds) {
    list.push_back({{"type", name(kind.type)}, {"op", name(kind.op)}});
  }
  return list;
}

// What was asked for.
Json json_of(const canary::TrafficPlan& plan) {
  const bool udp = plan.encapsulation == wire::Encapsulation::udp;
  return {{"workers", plan.hosts},           {"jobs", plan.jobs},
          {"blocks_in_flight", plan.window}, {"elements", plan.elements},
          {"kinds", json_of(plan.kinds)},    {"encapsulation", udp ? "udp" : "ethernet"}};
}

Json json_of(const panama::TrafficPlan& plan) {
  return {{"workers", plan.workers},       {"jobs", plan.jobs},
          {"trees", plan.trees},           {"window", plan.window},
          {"collective", plan.collective}, {"elements", plan.elements},
          {"kinds", json_of(plan.kinds)}};
}

Json json_of(const netreduce::TrafficPlan& plan) {
  return {{"workers", plan.workers},   {"jobs", plan.jobs},
          {"window", plan.window},     {"message_packets", plan.message_packets},
          {"path_mtu", plan.path_mtu}, {"kinds", json_of(plan.kinds)}};
}

Json json_of(const traffic::PlainPlan& plan, const std::string& sizes) {
  Json paths = Json::array();
  for (const auto& path : plan.paths) {
    paths.push_back(std::to_string(path.from) + ":" + std::to_string(path.to));
  }
  return {{"sizes", sizes}, {"flows", plan.flows}, {"paths", paths}};
}

class JsonReport final : public Report {
 public:
  JsonReport(const Options& options, File file) : options_(options), file_(std::move(file)) {}

  tl::expected<void, std::string> end(const Outcome& outcome) override {
    Json document = {{"mode", name_of(options_.mode)}, {"traffic", name_of(options_.kind)}};
    document["mtu"] = options_.mtu;
    document.update(setting());
    document["trials"] = Json::array();
    for (const auto& trial : outcome.trials) {
      document["trials"].push_back(json_of(trial, options_.kind));
    }
    if (options_.session.search) {
      document["best"] = outcome.best == nullptr ? Json() : json_of(*outcome.best, options_.kind);
    }
    document["ports"] = Json::array();
    for (std::size_t i = 0; i < outcome.ports.size(); ++i) {
      document["ports"].push_back(json_of(outcome.ports[i], outcome.port_names[i]));
    }
    document["wrong"] = outcome.trials.empty() ? 0 : outcome.trials.back().wrong;
    std::fprintf(file_.get(), "%s\n", document.dump(1).c_str());
    return flush(file_.get(), "--json", options_.json);
  }

 private:
  Json setting() const {
    switch (options_.kind) {
      case Kind::canary:
        return json_of(options_.canary);
      case Kind::panama:
        return json_of(options_.panama);
      case Kind::netreduce:
        return json_of(options_.netreduce);
      case Kind::plain:
        break;
    }
    return json_of(*options_.plain, options_.sizes);
  }

  const Options& options_;
  File file_;
};

class CsvReport final : public Report {
 public:
  CsvReport(const Options& options, File file) : options_(options), file_(std::move(file)) {
    std::fprintf(file_.get(),
                 "time_s,trial,phase,rate,seconds,packets,line_bytes,begun,done,wrong,"
                 "latency_p50_us,latency_p99_us,latency_max_us,loss\n");
  }

  void refresh(const Reading& reading) override {
    if (!reading.view.finding_neighbours) {
      row(reading.seconds, reading.view.now, reading.view.trial, name_of(reading.view.phase));
      std::fflush(file_.get());  // for who reads along; end() tells of failures
    }
  }
  void trial(const traffic::TrialResult& result, std::size_t number, double seconds) override {
    row(seconds, result, number, name_of(traffic::Trial::Phase::done));
  }
  tl::expected<void, std::string> end(const Outcome& /*outcome*/) override {
    return flush(file_.get(), "--csv", options_.csv);
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
  File file_;
};

}  // namespace

tl::expected<std::unique_ptr<Report>, std::string> make_json_report(const Options& options) {
  auto file = open_file("--json", options.json);
  if (!file) {
    return tl::unexpected(file.error());
  }
  return std::make_unique<JsonReport>(options, std::move(*file));
}

tl::expected<std::unique_ptr<Report>, std::string> make_csv_report(const Options& options) {
  auto file = open_file("--csv", options.csv);
  if (!file) {
    return tl::unexpected(file.error());
  }
  return std::make_unique<CsvReport>(options, std::move(*file));
}

}  // namespace tributary::pktgen
