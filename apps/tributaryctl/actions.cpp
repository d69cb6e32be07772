// SPDX-License-Identifier: BSD-3-Clause
#include "actions.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <vector>

#include "control/config_warnings.h"
#include "control/json.h"
#include "control/loader.h"
#include "control/params.h"
#include "in_use.h"
#include "lists.h"
#include "rows.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;

// Calls a method that changes something; `done` is what people read.
ExitCode act(const Options& options, const std::string& method, json params,
             const std::string& done) {
  const auto result = call_daemon(options, method, std::move(params));
  if (!result) {
    return report(options, result.error());
  }
  return print_result(options, *result, done);
}

void print_warnings(const std::string& file, const std::vector<std::string>& warnings) {
  for (const auto& warning : warnings) {
    std::fprintf(stderr, "%s: warning: %s\n", file.c_str(), warning.c_str());
  }
}

std::string counted(std::size_t count, const std::string& one, const std::string& more) {
  return std::to_string(count) + " " + (count == 1 ? one : more);
}

// Returns the checked text of a configuration, which is sent to the daemon so that it need not see
// the file.
tl::expected<std::string, ExitCode> readable_config(const Options& options,
                                                    const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  std::stringstream text;
  text << stream.rdbuf();
  const std::string content = text.str();
  const auto loaded = stream ? control::parse_config(content, file) : control::load_config(file);
  if (!loaded) {
    return tl::unexpected(report(options, ExitCode::failed, "configuration",
                                 "the configuration is wrong; nothing was changed",
                                 control::to_json(loaded.error())));
  }
  print_warnings(file, control::warnings_of(*loaded));
  return content;
}

ExitCode send_config(const Options& options, const std::string& method, const std::string& file,
                     const std::function<void(const json& result)>& show) {
  const auto text = readable_config(options, file);
  if (!text) {
    return text.error();
  }
  const auto result = call_daemon(options, method, {{"name", file}, {"text", *text}});
  if (!result) {
    return report(options, result.error());
  }
  if (options.json) {
    print_json(*result);
    return ExitCode::ok;
  }
  show(*result);
  return ExitCode::ok;
}

// Shows which of the changes a reload takes; it takes all or none. If it refuses what could change
// each by itself, it says why.
void show_difference(const json& result) {
  const json changes = result.value("changes", json::array());
  const json refused = result.value("refused", json());
  const bool restarts = result.value("needs_restart", false);
  for (const json& change : changes) {
    const bool taken = !change.value("needs_restart", false) && (restarts || refused.is_null());
    std::printf("%s%s\n", change.value("line", "").c_str(), taken ? "  (can be reloaded)" : "");
  }
  if (changes.empty() && refused.is_null()) {
    std::printf("no difference\n");
  } else if (restarts) {
    std::printf("`tributaryctl config reload` refuses all of it; restart the daemon\n");
  } else if (refused.is_string()) {
    std::printf("`tributaryctl config reload` refuses all of it: %s\n",
                refused.get<std::string>().c_str());
  } else {
    std::printf("`tributaryctl config reload` puts it in force\n");
  }
}

void show_reloaded(const json& result) {
  const json changes = result.value("changes", json::array());
  for (const json& change : changes) {
    std::printf("%s\n", change.value("line", "").c_str());
  }
  std::printf("%s\n", changes.empty() ? "nothing changed" : "in force");
  for (const json& cpu : result.value("late_cpus", json::array())) {
    std::printf("the packet core on CPU %u is late: it takes this up before its next burst\n",
                cpu.get<unsigned>());
  }
}

// Returns what controllers have installed on a switch.
tl::expected<json, ExitCode> installed_on(const Options& options, const std::string& switch_name) {
  const auto listed = call_daemon(options, "tree.list", {{"limit", control::Params::rows_max}});
  if (!listed) {
    return tl::unexpected(report(options, listed.error()));
  }
  json installed = json::array();
  for (const json& row : rows_of(*listed, switch_name)) {
    if (row.value("origin", "") == "controller") {
      installed.push_back(row);
    }
  }
  return installed;
}

ExitCode report_no_trees(const Options& options, const std::string& switch_name, std::uint32_t job,
                         const json& installed) {
  std::set<std::uint32_t> known;
  for (const json& row : installed) {
    known.insert(row.value("job", std::uint32_t{0}));
  }
  return report(options, ExitCode::failed, "no_job",
                "switch " + switch_name + " has no installed trees of job " + std::to_string(job) +
                    "; it has " + (known.empty() ? "none" : "those of " + joined(known)),
                {{"known_jobs", known}});
}

}  // namespace

ExitCode set_port(const Options& options, const std::string& switch_name, const std::string& port,
                  bool up) {
  return act(options, "port.set", {{"switch", switch_name}, {"port", port}, {"up", up}},
             switch_name + ":" + port + (up ? " may take part" : " is taken out"));
}

ExitCode remove_trees(const Options& options, const std::string& switch_name, std::uint32_t job,
                      bool force) {
  const auto installed = installed_on(options, switch_name);
  if (!installed) {
    return installed.error();
  }
  std::vector<controller::TreeUse> uses;
  for (const json& row : *installed) {
    if (const auto use = controller::use_of(row); use && use->job == job) {
      uses.push_back(*use);
    }
  }
  if (!uses.empty() && !force) {
    return report_in_use(options, uses);
  }
  const auto result = call_daemon(options, "tree.remove", {{"switch", switch_name}, {"job", job}});
  if (!result) {
    return report(options, result.error());
  }
  if (result->value("removed_total", std::uint64_t{0}) == 0) {
    return report_no_trees(options, switch_name, job, *installed);
  }
  return print_result(options, *result,
                      "switch " + switch_name + " has no installed trees of job " +
                          std::to_string(job) + " any more");
}

ExitCode log_level(const Options& options, const std::string& level) {
  if (!level.empty()) {
    return act(options, "log.set", {{"level", level}}, "log level is " + level);
  }
  const auto status = call_daemon(options, "daemon.status", json::object());
  if (!status) {
    return report(options, status.error());
  }
  const std::string current = status->value("log_level", "?");
  return print_result(options, {{"level", current}}, current);
}

ExitCode stop_daemon(const Options& options) {
  return act(options, "daemon.shutdown", json::object(), "the daemon drains and ends");
}

ExitCode show_version(const Options& options) {
  const auto protocol = control::protocol_version;
  return print_result(
      options, {{"version", TRIBUTARY_VERSION}, {"protocol_version", protocol}},
      "tributaryctl " TRIBUTARY_VERSION " (control protocol " + std::to_string(protocol) + ")");
}

ExitCode check_config(const Options& options, const std::string& file) {
  const auto loaded = control::load_config(file);
  if (!loaded) {
    return report(options, ExitCode::failed, "configuration", "the configuration is wrong",
                  control::to_json(loaded.error()));
  }
  std::size_t ports = 0;
  for (const auto& section : loaded->switches) {
    ports += section.config.ports.size();
  }
  const auto switches = loaded->switches.size();
  const auto warnings = control::warnings_of(*loaded);
  if (!options.json) {
    print_warnings(file, warnings);
  }
  return print_result(
      options, {{"file", file}, {"switches", switches}, {"ports", ports}, {"warnings", warnings}},
      file + ": ok, " + counted(switches, "switch", "switches") + ", " +
          counted(ports, "port", "ports"));
}

ExitCode diff_config(const Options& options, const std::string& file) {
  return send_config(options, "config.diff", file, show_difference);
}

ExitCode reload_config(const Options& options, const std::string& file) {
  return send_config(options, "config.reload", file, show_reloaded);
}

}  // namespace tributary::ctl
