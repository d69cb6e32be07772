// SPDX-License-Identifier: BSD-3-Clause
#include "controller/live_fabric.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <set>
#include <system_error>

#include "control/params.h"
#include "control/protocol_section.h"
#include "control/tree_json.h"
#include "controller/obstacles.h"
#include "system/signals_later.h"

namespace tributary::controller {
namespace {

using control::CallError;
using nlohmann::json;

// sshd turns some away where ten log in at once (MaxStartups).
constexpr std::size_t asked_at_a_time = 8;

// Returns the lesser of two rates; 0 is unknown, and gives way to the other.
std::uint64_t slower(std::uint64_t a, std::uint64_t b) {
  return a != 0 && b != 0 ? std::min(a, b) : std::max(a, b);
}

// Says whether it has more rows than it lists. A number of another type is taken for one that is
// too large.
bool has_more(const json& answer) {
  const json total = answer.value("rows_total", json(0));
  return !total.is_number_unsigned() || total.get<std::uint64_t>() > answer["rows"].size();
}

CallError broken(const std::string& what) {
  return {CallError::Kind::failed, what, {}};
}

}  // namespace

LiveFabric::LiveFabric(const FabricFile& fabric, std::chrono::milliseconds timeout,
                       Connections kept)
    : fabric_(fabric),
      timeout_(timeout),
      silent_(fabric.points.size()),
      states_(fabric.points.size()),
      needs_seeds_(!levels_with_a_choice(fabric.topology).empty()),
      seeds_(fabric.points.size()) {
  reach_all(std::move(kept));
  for (std::size_t sw = 0; sw < fabric.points.size(); ++sw) {
    Daemon& daemon = daemon_of(sw);
    if (daemon.error) {
      silent_[sw] = daemon.error;
    } else {
      try {
        read_switch(sw, daemon);
      } catch (const json::exception& error) {  // members of other types than expected
        silent_[sw] = broken(std::string("what it lists is not understood: ") + error.what());
      }
    }
  }
  check_switches();
  for (const auto& link : fabric.topology.links) {
    check_port(link.a, "a link");
    check_port(link.b, "a link");
  }
  for (const auto& host : fabric.topology.hosts) {
    check_port(host.at, "host " + host.name);
  }
}

LiveFabric::Daemon& LiveFabric::daemon_of(std::size_t sw) {
  return daemons_.at(Point(fabric_.points[sw].ssh, fabric_.points[sw].socket));
}

void LiveFabric::reach_all(Connections kept) {
  for (const auto& point : fabric_.points) {
    daemons_.try_emplace(Point(point.ssh, point.socket));
  }
  std::vector<std::pair<const Point, Daemon>*> all;
  for (auto& entry : daemons_) {
    if (auto at = kept.find(entry.first); at != kept.end()) {
      entry.second.client.emplace(std::move(at->second));
    }
    all.push_back(&entry);
  }
  std::atomic<std::size_t> next = 0;
  const auto reach_the_next = [&] {
    for (auto at = next++; at < all.size(); at = next++) {
      reach(all[at]->second, all[at]->first);
    }
  };
  std::vector<std::future<void>> others;
  try {
    while (others.size() + 1 < std::min(asked_at_a_time, all.size())) {
      others.push_back(std::async(std::launch::async, reach_the_next));
    }
  } catch (const std::system_error&) {
    // There are no more threads, so this one and those that there are ask all.
  }
  reach_the_next();
  for (auto& other : others) {
    other.get();
  }
}

// A connection that was kept may be one to a daemon that has ended since.
void LiveFabric::reach(Daemon& daemon, const Point& point) const {
  if (daemon.client) {
    ask(daemon);
  }
  const bool is_late = daemon.error && daemon.error->kind == CallError::Kind::timeout;
  if (!daemon.client || (daemon.error && !is_late)) {
    connect(daemon, point);
    ask(daemon);
  }
}

Connections LiveFabric::release() {
  Connections kept;
  for (auto& [point, daemon] : daemons_) {
    if (daemon.client && !daemon.error) {
      kept.emplace(point, std::move(*daemon.client));
      daemon.error = broken("its connection was given away");
    }
    daemon.client.reset();
  }
  return kept;
}

void LiveFabric::connect(Daemon& daemon, const Point& point) const {
  const auto& [ssh, socket] = point;
  auto client = ssh.empty() ? control::Client::connect(socket, timeout_)
                            : control::Client::connect_over_ssh(ssh, socket, timeout_);
  daemon.client.reset();
  daemon.error.reset();
  if (client) {
    daemon.client.emplace(std::move(*client));
  } else {
    daemon.error = client.error();
  }
  if (ssh.empty() && daemon.error && daemon.error->kind == CallError::Kind::no_daemon) {
    daemon.error->message = "no daemon serves " + socket +
                            "; start tributaryd, or correct `control` in " + fabric_.name;
  }
}

void LiveFabric::ask(Daemon& daemon) const {
  const auto read = [&](const char* method, json& out) {
    if (daemon.error) {
      return;
    }
    auto answer = call(daemon, method, {{"limit", control::Params::rows_max}});
    if (!answer) {
      daemon.error = answer.error();
    } else if (!answer->is_object() || !answer->value("rows", json()).is_array()) {
      daemon.error = broken("the daemon's answer has no rows");
    } else if (has_more(*answer)) {
      daemon.error = broken("it has more rows than a daemon lists");
    } else {
      out = std::move(*answer);
    }
  };
  read("port.list", daemon.ports);
  read("tree.list", daemon.trees);
  if (needs_seeds_) {
    read("switch.list", daemon.switches);
  }
}

LiveFabric::Called LiveFabric::call(Daemon& daemon, const char* method, json params) {
  if (!daemon.client) {
    return tl::unexpected(*daemon.error);
  }
  return daemon.client->call(method, std::move(params));
}

void LiveFabric::read_switch(std::size_t sw, const Daemon& daemon) {
  const std::string& name = fabric_.topology.switches[sw].name;
  auto& state = states_[sw];
  const auto ours = [&](const json& row) {
    return row.is_object() && row.value("switch", json()) == name;
  };
  for (const json& row : daemon.ports["rows"]) {
    if (ours(row)) {
      const auto shaped = row.value("rate_bits_per_second", std::uint64_t{0});
      const auto line = row.value("line_bits_per_second", std::uint64_t{0});
      state.ports[row.value("port", "")] = {row.value("up", false), slower(shaped, line)};
    }
  }
  for (const json& row : daemon.trees.value("switches", json::array())) {
    if (ours(row)) {
      state.trees_max[row.value("engine", std::string(control::first_tree_engine()))] =
          row.value("trees_max", std::size_t{0});
    }
  }
  if (needs_seeds_) {
    for (const json& row : daemon.switches["rows"]) {
      if (ours(row) && row.contains("reduction_seed")) {  // daemons of before do not tell
        seeds_[sw] = row["reduction_seed"].get<std::uint64_t>();
      }
    }
  }
  std::vector<PlacedPart> installed, changeable;
  std::vector<TreeUse> uses;
  for (const json& row : daemon.trees["rows"]) {
    if (!ours(row)) {
      continue;
    }
    const auto parts = control::read_trees(json::array({row}), {"switch", "origin", "state"});
    if (!parts) {
      silent_[sw] = broken("what it lists is not understood: " + parts.error());
      return;
    }
    installed.push_back({sw, parts->front()});
    if (row.value("origin", "") == "controller") {
      changeable.push_back({sw, parts->front()});
      if (auto use = use_of(row)) {
        uses.push_back(std::move(*use));
      }
    }
  }
  // All of it is taken or nothing: what is half understood is no ground to change anything.
  installed_.insert(installed_.end(), installed.begin(), installed.end());
  changeable_.insert(changeable_.end(), changeable.begin(), changeable.end());
  uses_.insert(uses_.end(), uses.begin(), uses.end());
}

// Complains once for each daemon that lacks some: its socket may be another one's.
void LiveFabric::check_switches() {
  std::map<Point, std::vector<std::string>> missing;
  for (std::size_t sw = 0; sw < states_.size(); ++sw) {
    if (!silent_[sw] && states_[sw].ports.empty()) {
      const auto& point = fabric_.points[sw];
      missing[{point.ssh, point.socket}].push_back(fabric_.topology.switches[sw].name);
    }
  }
  for (const auto& [point, names] : missing) {
    std::set<std::string> present;
    for (const json& row : daemons_.at(point).ports["rows"]) {
      const json name = row.is_object() ? row.value("switch", json()) : json();
      present.insert(name.is_string() ? name.get<std::string>() : "");
    }
    faults_.push_back("the daemon at " + point.second +
                      (point.first.empty() ? "" : " on " + point.first) + " has no switch " +
                      joined(names) + "; it has " + joined({present.begin(), present.end()}));
  }
}

bool LiveFabric::all_answer() const {
  return std::none_of(silent_.begin(), silent_.end(),
                      [](const auto& error) { return error.has_value(); });
}

std::string LiveFabric::port_name(const SwitchPort& port) const {
  return fabric_.topology.switches[port.switch_index].name + ":" + port.port;
}

void LiveFabric::check_port(const SwitchPort& port, const std::string& user) {
  const auto& ports = states_[port.switch_index].ports;
  if (!ports.empty() && !ports.contains(port.port)) {
    faults_.push_back("there is no port " + port_name(port) + ", which " + user + " needs");
  }
}

// Says why nothing comes by this port; empty if it is up, or nobody knows.
std::string LiveFabric::unusable(const SwitchPort& port) const {
  const auto& ports = states_[port.switch_index].ports;
  const auto at = ports.find(port.port);
  return at == ports.end() || at->second.up ? std::string()
                                            : "port " + port_name(port) + " is down";
}

std::uint64_t LiveFabric::rate(const SwitchPort& port) const {
  const auto& ports = states_[port.switch_index].ports;
  const auto at = ports.find(port.port);
  return at == ports.end() ? 0 : at->second.rate_bps;
}

Topology LiveFabric::topology(const std::string& engine, bool silent_usable) const {
  Topology topology = fabric_.topology;
  for (std::size_t sw = 0; sw < topology.switches.size(); ++sw) {
    auto& entry = topology.switches[sw];
    const auto room = states_[sw].trees_max.find(engine);
    if (silent_[sw]) {
      entry.trees_max = control::Params::rows_max;
      entry.unusable = silent_usable ? "" : "does not answer";
    } else if (room == states_[sw].trees_max.end()) {
      entry.unusable = "has no [switch." + engine + "]; add it to its configuration and restart it";
    } else {
      entry.trees_max = room->second;
    }
  }
  for (auto& link : topology.links) {
    const auto first = unusable(link.a);
    link.unusable = first.empty() ? unusable(link.b) : first;
    link.rate_bps = slower(rate(link.a), rate(link.b));
  }
  for (auto& host : topology.hosts) {
    host.unusable = unusable(host.at);
  }
  return topology;
}

LiveFabric::Called LiveFabric::call_install(std::size_t sw, const std::vector<std::uint32_t>& jobs,
                                            const std::vector<TreePart>& parts, bool check) {
  Daemon& daemon = daemon_of(sw);
  json trees = json::array();
  for (const auto& part : parts) {
    trees.push_back(control::to_json(part));
  }
  const json params = {{"switch", fabric_.topology.switches[sw].name},
                       {"trees", std::move(trees)},
                       {"replace", jobs},
                       {"check", check}};
  auto done = call(daemon, "tree.install", params);
  if (!done && done.error().failure.message.empty()) {
    // The connection failed, not the request: the daemon may have been restarted. Doing it twice is
    // doing it once.
    connect(daemon, Point(fabric_.points[sw].ssh, fabric_.points[sw].socket));
    done = call(daemon, "tree.install", params);
  }
  return done;
}

tl::expected<void, TransactionFailure> LiveFabric::carry_out(
    const std::vector<SwitchChange>& changes) {
  const SignalsLater signals;  // all switches change or none
  return controller::carry_out(
      changes, [this](std::size_t sw, const auto& jobs, const auto& parts, bool check) {
        return call_install(sw, jobs, parts, check).map([](const auto&) {});
      });
}

SeedSteps LiveFabric::give_seeds() {
  SeedSteps steps;
  for (const SeedChange& change : missing_seeds(fabric_.topology, seeds_)) {
    const auto& name = fabric_.topology.switches[change.switch_index].name;
    if (const auto done = call(daemon_of(change.switch_index), "seed.set",
                               {{"switch", name}, {"reduction_seed", change.seed}})) {
      seeds_[change.switch_index] = change.seed;
      steps.changes.push_back(change);
    } else {
      steps.refused = true;
      steps.problems.push_back("switch " + name + " does not take reduction_seed " +
                               std::to_string(change.seed) + ": " + done.error().message);
    }
  }
  const auto faults = seed_faults(fabric_.topology, seeds_);
  steps.problems.insert(steps.problems.end(), faults.begin(), faults.end());
  return steps;
}

std::optional<std::string> LiveFabric::objection(std::size_t sw,
                                                 const std::vector<std::uint32_t>& jobs,
                                                 const std::vector<TreePart>& parts) {
  if (silent_[sw]) {
    return std::nullopt;
  }
  const auto done = call_install(sw, jobs, parts, true);
  const bool refuses = !done && !done.error().failure.message.empty() &&
                       done.error().failure.code == control::ErrorCode::refused;
  return refuses ? std::optional(done.error().message) : std::nullopt;
}

}  // namespace tributary::controller
