// SPDX-License-Identifier: BSD-3-Clause
#include "metrics.h"

#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "control/params.h"
#include "forwarding/class_queues.h"
#include "forwarding/port_counters.h"
#include "protocols/engines.h"
#include "rows.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;

constexpr const char* dropped = "tributary_dropped_packets_total";

// These are figures of rows that have others, too, for people.
struct Figure {
  const char* name;  // in the row, and of the metric behind its prefix
  const char* help;
};
constexpr Figure port_states[] = {
    {"up", "1 while the port has a link and is not switched off, else 0"},
    {"queue_bytes", "bytes that wait to be sent"},
};
constexpr Figure bfd_figures[] = {
    {"alive", "1 while the neighbour answers, else 0"},
    {"failures_total", "how often the neighbour did not answer any more"},
};
constexpr Figure daemon_figures[] = {
    {"uptime_seconds", "the time since the daemon started"},
    {"resident_bytes", "the daemon's resident memory"},
    {"packet_buffers", "packet buffers that there are"},
    {"packet_buffers_free", "packet buffers that hold no packet"},
    {"log_dropped_total", "lines of the log that nobody took in time"},
};
constexpr Figure core_figures[] = {
    {"loops_total", "loops of a packet core"},
    {"busy_loops_total", "loops that found something to do"},
    {"handover_full_packets_total", "packets that found the ring to another core full"},
};

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"' || c == '\n') {
      out += '\\';
    }
    out += c == '\n' ? 'n' : c;
  }
  return out;
}

// An Exposition keeps all samples of one name together, as the format demands.
class Exposition {
 public:
  // Takes from the tables what the figures are. One that they lack, of a daemon of another version,
  // goes without help.
  Exposition() {
    describe(forwarding::port_figures, "tributary_port_");
    describe(forwarding::class_figures, "tributary_class_");
    for (const auto* kind : protocols::engines()) {
      describe(kind->figure_kinds(), "tributary_" + std::string(kind->protocol.name) + "_");
    }
    describe(port_states, "tributary_port_");
    describe(bfd_figures, "tributary_bfd_");
    describe(daemon_figures, "tributary_daemon_");
    describe(core_figures, "tributary_core_");
    families_[dropped].help = "packets that were dropped, or were made and could not be sent";
  }

  // Adds a sample with the row's values of these labels.
  void add(const std::string& name, const json& row, std::initializer_list<const char*> labels,
           const json& value) {
    if (!value.is_number() && !value.is_boolean()) {
      return;
    }
    std::string text;
    for (const char* const label : labels) {
      text += (text.empty() ? "" : ",") + std::string(label) + "=\"" +
              escaped(plain(row.value(label, json("")))) + '"';
    }
    families_[name].samples += name + (text.empty() ? "" : "{" + text + "}") + " " +
                               (value.is_boolean() ? json(int{value.get<bool>()}) : value).dump() +
                               "\n";
  }

  template <std::size_t Count>
  void add(const Figure (&figures)[Count], const std::string& prefix, const json& row,
           std::initializer_list<const char*> labels) {
    for (const auto& figure : figures) {
      add(prefix + figure.name, row, labels, row.value(figure.name, json()));
    }
  }

  void print() const {
    for (const auto& [name, family] : families_) {
      if (family.samples.empty()) {
        continue;
      }
      if (!family.help.empty()) {
        std::printf("# HELP %s %s\n", name.c_str(), family.help.c_str());
      }
      std::printf("# TYPE %s %s\n%s", name.c_str(), name.ends_with("_total") ? "counter" : "gauge",
                  family.samples.c_str());
    }
  }

 private:
  struct Family {
    std::string help;
    std::string samples;
  };

  template <typename Figures>
  void describe(const Figures& figures, const std::string& prefix) {
    for (const auto& figure : figures) {
      families_[prefix + std::string(figure.name)].help = figure.help;
    }
  }

  std::map<std::string, Family> families_;
};

void add_port(Exposition& out, const json& row) {
  out.add(port_states, "tributary_port_", row, {"switch", "port"});
  const json counters = row.value("counters", json::object());
  for (const auto& [name, value] : counters.items()) {
    out.add("tributary_port_" + name, row, {"switch", "port"}, value);
  }
}

void add_class(Exposition& out, const json& row) {
  for (const auto& [name, value] : row.items()) {
    if (name.ends_with("_total")) {
      out.add("tributary_class_" + name, row, {"switch", "port", "class"}, value);
    }
  }
}

// Figures of the same name are not the same in all engines, so that each has families of its own.
void add_engine(Exposition& out, const json& row) {
  const json figures = row.value("figures", json::object());
  for (const auto& [name, value] : figures.items()) {
    out.add("tributary_" + row.value("engine", "") + "_" + name, row, {"switch"}, value);
  }
}

void add_drop(Exposition& out, const json& row) {
  out.add(dropped, row, {"scope", "where", "reason"}, row.value("packets_total", json(nullptr)));
}

void add_bfd(Exposition& out, const json& row) {
  out.add(bfd_figures, "tributary_bfd_", row, {"switch", "port", "neighbour"});
}

void add_daemon(Exposition& out, const json& status) {
  out.add(daemon_figures, "tributary_daemon_", status, {});
  for (const json& core : status.value("cores", json::array())) {
    out.add(core_figures, "tributary_core_", core, {"cpu"});
  }
}

struct Source {
  const char* method;
  bool has_limit;
  void (*add)(Exposition& out, const json& row);
};
constexpr Source sources[] = {{"port.list", true, add_port},
                              {"class.list", true, add_class},
                              {"engine.list", true, add_engine},
                              {"bfd.list", true, add_bfd},
                              {"drop.list", false, add_drop}};

}  // namespace

ExitCode show_metrics(const Options& options) {
  auto client = control::Client::connect(options.socket, options.timeout());
  if (!client) {
    return report(options, client.error());
  }
  Exposition out;
  const auto status = client->call("daemon.status", json::object());
  if (!status) {
    return report(options, status.error());
  }
  add_daemon(out, *status);
  for (const auto& source : sources) {
    const auto result =
        client->call(source.method, source.has_limit ? json{{"limit", control::Params::rows_max}}
                                                     : json::object());
    if (!result) {
      return report(options, result.error());
    }
    const json rows = rows_of(*result, {});
    if (rows.size() < result->value("rows_total", std::uint64_t{0})) {
      return report(options, ExitCode::failed, "too_many",
                    std::string(source.method) + " has more rows than the " +
                        std::to_string(control::Params::rows_max) + " that can be asked for");
    }
    for (const json& row : rows) {
      source.add(out, row);
    }
  }
  out.print();
  return ExitCode::ok;
}

}  // namespace tributary::ctl
