// SPDX-License-Identifier: BSD-3-Clause
#include "control/dispatcher.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "control/handler_methods.h"
#include "control/json.h"
#include "control/log_queue.h"
#include "control/params.h"
#include "control/protocol.h"
#include "control/seed_methods.h"
#include "control/tree_methods.h"
#include "control/words.h"

namespace tributary::control {
namespace {

using nlohmann::json;

// A core did not answer, and there is no list without it.
tl::unexpected<Failure> late(std::string message) {
  return failure(ErrorCode::late, std::move(message));
}

// Returns at most `limit` rows, and how many there are.
template <class Row>
json rows(const std::vector<Row>& all, std::size_t limit) {
  json list = json::array();
  for (std::size_t i = 0; i < std::min(limit, all.size()); ++i) {
    list.push_back(to_json(all[i]));
  }
  return {{"rows", std::move(list)}, {"rows_total", all.size()}};
}

// Methods have `limit` as their one parameter, or none.
template <Answer (*method)(Backend&, std::size_t limit)>
Answer limited(Backend& backend, const json& given) {
  Params params(given);
  const std::size_t limit = params.limit();
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  return method(backend, limit);
}
template <Answer (*method)(Backend&)>
Answer plain(Backend& backend, const json& given) {
  if (const auto ok = Params(given).finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  return method(backend);
}

template <class Row, Queried<std::vector<Row>> (Backend::*query)()>
Answer list_all(Backend& backend, std::size_t limit) {
  const auto all = (backend.*query)();
  if (!all) {
    return late(all.error());
  }
  return rows(*all, limit);
}
template <class Row, Queried<std::vector<Row>> (Backend::*query)()>
constexpr auto list = limited<list_all<Row, query>>;

Answer list_descriptors(Backend& backend, std::size_t limit) {
  const auto all = backend.descriptors(limit);
  const auto jobs = all ? backend.jobs() : tl::unexpected(all.error());
  if (!jobs) {
    return late(jobs.error());
  }
  auto answer = rows(*all, limit);
  std::size_t held = 0;
  for (const auto& row : *jobs) {
    held += row.job.descriptors;
  }
  answer["rows_total"] = std::max(held, answer["rows"].size());
  return answer;
}

Answer list_classes(Backend& backend, std::size_t limit) {
  const auto ports = backend.ports();
  if (!ports) {
    return late(ports.error());
  }
  std::vector<ClassStatus> classes;
  for (const PortStatus& port : *ports) {
    classes.insert(classes.end(), port.classes.begin(), port.classes.end());
  }
  return rows(classes, limit);
}

// Stalls whose missing ranks are known come first, then those that wait longest.
Answer list_stalled(Backend& backend, std::size_t limit) {
  // One more than is shown is asked for, so that rows_total tells whether there are more.
  auto all = backend.stalled(limit + 1);
  if (!all) {
    return late(all.error());
  }
  std::stable_sort(all->begin(), all->end(), [](const StallRow& a, const StallRow& b) {
    return std::make_pair(a.stall.missing.empty(), b.stall.waiting) <
           std::make_pair(b.stall.missing.empty(), a.stall.waiting);
  });
  return rows(*all, limit);
}

Answer daemon_status(Backend& backend) {
  const auto known = backend.status();
  if (!known) {
    return late(known.error());
  }
  json status = to_json(*known);
  status["protocol_version"] = protocol_version;
  status["switches"] = backend.config().switches.size();
  status["handlers"] = backend.handlers().size();
  status["log_level"] = std::string(spdlog::level::to_string_view(spdlog::get_level()).data(),
                                    spdlog::level::to_string_view(spdlog::get_level()).size());
  status["log_dropped_total"] = LogQueue::dropped_total();
  return status;
}

Answer daemon_shutdown(Backend& backend) {
  backend.shutdown();
  return json::object();
}

Answer list_drops(Backend& backend) {
  const auto switches = backend.switches();
  const auto ports = switches ? backend.ports() : tl::unexpected(switches.error());
  const auto status = ports ? backend.status() : tl::unexpected(ports.error());
  if (!status) {
    return late(status.error());
  }
  json list = drop_rows(*switches, *ports, status->cores);
  const std::size_t count = list.size();
  return json{{"rows", std::move(list)}, {"rows_total", count}};
}

Answer list_counters(Backend& backend) {
  const auto switches = backend.switches();
  if (!switches) {
    return late(switches.error());
  }
  json list = json::array();
  Ledger sum;
  for (const SwitchStatus& sw : *switches) {
    json row = to_json(sw.ledger);
    row["switch"] = sw.name;
    list.push_back(std::move(row));
    sum += sw.ledger;
  }
  const std::size_t count = list.size();
  return json{{"rows", std::move(list)}, {"rows_total", count}, {"all", to_json(sum)}};
}

bool has_port(const DaemonConfig& config, const std::string& switch_name, const std::string& port) {
  return std::any_of(config.switches.begin(), config.switches.end(), [&](const auto& section) {
    const auto& ports = section.config.ports;
    return section.config.name == switch_name &&
           std::any_of(ports.begin(), ports.end(),
                       [&](const auto& one) { return one.name == port; });
  });
}

Answer set_port(Backend& backend, const json& given) {
  Params params(given);
  const std::string switch_name = params.text("switch");
  const std::string port = params.text("port");
  const bool up = params.flag("up");
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  if (const auto outcome = backend.set_port(switch_name, port, up); !outcome) {
    return has_port(backend.config(), switch_name, port)
               ? late(outcome.error())
               : failure(ErrorCode::refused, outcome.error());
  }
  return json{{"switch", switch_name}, {"port", port}, {"up", up}};
}

Answer set_log_level(Backend&, const json& given) {
  Params params(given);
  const std::string level = params.text("level");
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  if (std::find(log_levels.begin(), log_levels.end(), level) == log_levels.end()) {
    return failure(ErrorCode::invalid_params,
                   "`level` is to be one of " + joined({log_levels.begin(), log_levels.end()}));
  }
  spdlog::set_level(spdlog::level::from_str(level));
  return json{{"level", level}};
}

// Returns the configuration that came with the request. `name` is what errors call the file.
tl::expected<DaemonConfig, Failure> sent_config(const json& given) {
  Params params(given);
  const std::string name = params.text("name");
  const std::string text = params.text("text");
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  auto loaded = parse_config(text, name);
  if (!loaded) {
    return failure(ErrorCode::configuration, "the configuration is wrong; nothing was changed",
                   to_json(loaded.error()));
  }
  return std::move(*loaded);
}

// Says how a configuration differs from the one in force, and why a reload refuses it, if it does.
struct Difference {
  std::vector<ConfigChange> changes;
  std::optional<std::string> refused;
};

bool tells_of(const std::vector<ConfigChange>& changes, const ConfigChange& other) {
  return std::any_of(changes.begin(), changes.end(),
                     [&](const ConfigChange& change) { return change.setting == other.setting; });
}

Difference difference_of(Backend& backend, const DaemonConfig& next) {
  Difference difference{diff(backend.config(), next), {}};
  if (needs_restart(difference.changes)) {
    difference.refused = "some changes need a restart of the daemon; nothing was changed";
  } else if (auto loads = backend.check_reload(next); !loads) {
    difference.refused = std::move(loads.error());
  } else {
    std::copy_if(loads->begin(), loads->end(), std::back_inserter(difference.changes),
                 [&](const ConfigChange& load) { return !tells_of(difference.changes, load); });
  }
  return difference;
}

json difference_json(const Difference& difference) {
  json list = json::array();
  for (const ConfigChange& change : difference.changes) {
    list.push_back(to_json(change));
  }
  return {{"changes", std::move(list)},
          {"needs_restart", needs_restart(difference.changes)},
          {"refused", difference.refused ? json(*difference.refused) : json(nullptr)}};
}

Answer diff_config(Backend& backend, const json& given) {
  const auto next = sent_config(given);
  if (!next) {
    return tl::unexpected(next.error());
  }
  return difference_json(difference_of(backend, *next));
}

Answer reload_config(Backend& backend, const json& given) {
  const auto next = sent_config(given);
  if (!next) {
    return tl::unexpected(next.error());
  }
  const auto difference = difference_of(backend, *next);
  json answer = difference_json(difference);
  if (difference.refused) {
    return failure(ErrorCode::refused, *difference.refused, std::move(answer));
  }
  const bool level_changed = next->log_level != backend.config().log_level;
  const auto late_cpus = backend.reload(*next);
  if (!late_cpus) {
    return failure(ErrorCode::refused, late_cpus.error());
  }
  answer["late_cpus"] = *late_cpus;
  if (level_changed) {  // else a level that was set by hand stays
    spdlog::set_level(spdlog::level::from_str(next->log_level));
  }
  return answer;
}

// A client that waits longer than usual knows that the machine is busy, so cores may be late. A
// method asks them up to three times, and the client is to hear which core was late.
// Everybody else waits meanwhile, however patient that client is.
std::chrono::milliseconds core_patience(const Request& request) {
  constexpr std::chrono::milliseconds longest = std::chrono::seconds(60);
  return std::clamp<std::chrono::milliseconds>(request.timeout / 4, core_patience_default, longest);
}

struct Method {
  std::string_view name;
  Answer (*handle)(Backend&, const json& params);
  bool changes_state;
};
constexpr Method methods[] = {
    {"daemon.status", plain<daemon_status>, false},
    {"daemon.shutdown", plain<daemon_shutdown>, true},
    {"switch.list", list<SwitchStatus, &Backend::switches>, false},
    {"port.list", list<PortStatus, &Backend::ports>, false},
    {"port.set", set_port, true},
    {"class.list", limited<list_classes>, false},
    {"route.list", list<RouteStatus, &Backend::routes>, false},
    {"bfd.list", list<BfdStatus, &Backend::bfd>, false},
    {"fdb.list", list<FdbStatus, &Backend::fdb>, false},
    {"vlan.list", list<VlanStatus, &Backend::vlans>, false},
    {"arp.list", list<ArpStatus, &Backend::arp>, false},
    {"route6.list", list<RouteStatus6, &Backend::routes6>, false},
    {"neighbour6.list", list<NeighbourStatus6, &Backend::neighbours6>, false},
    {"engine.list", list<EngineStatus, &Backend::engines>, false},
    {"job.list", list<JobRow, &Backend::jobs>, false},
    {"descriptor.list", limited<list_descriptors>, false},
    {"stalled.list", limited<list_stalled>, false},
    {"tree.list", limited<list_trees>, false},
    {"tree.install", install_trees, true},
    {"tree.remove", remove_trees, true},
    {"seed.set", set_seed, true},
    {"handler.list", limited<list_handlers>, false},
    {"handler.load", load_handler, true},
    {"handler.unload", unload_handler, true},
    {"drop.list", plain<list_drops>, false},
    {"counter.list", plain<list_counters>, false},
    {"log.set", set_log_level, true},
    {"config.diff", diff_config, false},
    {"config.reload", reload_config, true},
};

const Method* find_method(std::string_view name) {
  const auto found = std::find_if(std::begin(methods), std::end(methods),
                                  [&](const Method& m) { return m.name == name; });
  return found == std::end(methods) ? nullptr : found;
}

Answer answer(const Request& request, Backend& backend) {
  const Method* const method = find_method(request.method);
  if (method != nullptr) {
    return method->handle(backend, request.params);
  }
  std::vector<std::string_view> names;
  for (const Method& known : methods) {
    names.push_back(known.name);
  }
  const std::string guess = nearest(request.method, names);
  return failure(ErrorCode::unknown_method,
                 "no method `" + request.method.substr(0, 64) + "`" +
                     (guess.empty() ? std::string() : "; did you mean `" + guess + "`?"));
}

}  // namespace

bool changes_state(std::string_view method) {
  const Method* const found = find_method(method);
  return found != nullptr && found->changes_state;
}

std::string dispatch(std::string_view text, Backend& backend) {
  std::uint64_t id = 0;
  try {
    const auto request = parse_request(text);
    if (!request) {
      return reply_text(0, request.error());
    }
    id = request->id;
    backend.set_core_patience(core_patience(*request));
    const Answer result = answer(*request, backend);
    backend.set_core_patience(core_patience_default);  // for what the daemon does by itself
    const std::string reply = result ? reply_text(id, *result) : reply_text(id, result.error());
    if (reply.size() <= reply_bytes_max) {
      return reply;
    }
    return reply_text(id, Failure{ErrorCode::refused, "the reply is too long; lower `limit`", {}});
  } catch (const std::exception& error) {  // lack of memory, and what JSON may still throw
    backend.set_core_patience(core_patience_default);
    return reply_text(id, Failure{ErrorCode::internal, error.what(), {}});
  }
}

}  // namespace tributary::control
