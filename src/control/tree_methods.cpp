// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_methods.h"

#include <algorithm>
#include <chrono>

#include "control/protocol_section.h"
#include "control/tree_json.h"

namespace tributary::control {
namespace {

using nlohmann::json;
using Jobs = std::vector<std::uint32_t>;

json state_of(const std::vector<TreeRow>& states, const std::string& switch_name,
              const TreePart& part) {
  const auto found = std::find_if(states.begin(), states.end(), [&](const TreeRow& row) {
    return row.switch_name == switch_name && row.engine == part.engine &&
           row.tree.job == part.job && row.tree.tree == part.tree;
  });
  if (found == states.end()) {
    return nullptr;
  }
  json state = to_json(found->tree);
  state["idle_seconds"] = found->idle ? json(in_seconds(*found->idle)) : json(nullptr);
  return state;
}

json all_rows(Backend& backend, const std::vector<TreeRow>& states) {
  json rows = json::array();
  const auto add = [&](const std::string& switch_name, const TreePart& part, const char* origin) {
    json row = to_json(part);
    row["switch"] = switch_name;
    row["engine"] = part.engine;
    row["origin"] = origin;
    row["state"] = state_of(states, switch_name, part);
    rows.push_back(std::move(row));
  };
  for (const SwitchSection& section : backend.config().switches) {
    const auto& config = section.config;
    for_each_with_trees(config, [&](const ProtocolSection& protocol) {
      for (const TreePart& part : protocol.trees->list(config)) {
        add(config.name, part, "file");
      }
    });
    if (const auto found = backend.trees().find(config.name); found != backend.trees().end()) {
      for (const TreePart& part : found->second) {
        add(config.name, part, "controller");
      }
    }
  }
  return rows;
}

json switches_with_trees(Backend& backend) {
  json list = json::array();
  for (const SwitchSection& section : backend.config().switches) {
    for_each_with_trees(section.config, [&](const ProtocolSection& protocol) {
      json row = protocol.trees->room(section.config);
      row["switch"] = section.config.name;
      row["engine"] = protocol.name;
      list.push_back(std::move(row));
    });
  }
  return list;
}

tl::expected<Jobs, Failure> read_jobs(const json& list) {
  Jobs jobs;
  for (const json& value : list) {
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= 0xffffffffu;
    if (!fits) {
      return failure(ErrorCode::invalid_params, "`replace` is to be a list of job ids");
    }
    jobs.push_back(value.get<std::uint32_t>());
  }
  return jobs;
}

// Finds out whether the switch is there and the trees fit, and then puts them in force.
tl::expected<void, Failure> change(Backend& backend, const std::string& switch_name,
                                   const Jobs& jobs, const std::vector<TreePart>& added,
                                   bool check) {
  const auto& switches = backend.config().switches;
  const bool known = std::any_of(switches.begin(), switches.end(), [&](const auto& section) {
    return section.config.name == switch_name;
  });
  if (!known) {
    return failure(ErrorCode::refused, "there is no switch `" + switch_name.substr(0, 64) +
                                           "`; `tributaryctl switch` lists them");
  }
  const RuntimeTrees next = with_change(backend.trees(), switch_name, jobs, added);
  DaemonConfig config = backend.config();
  if (const auto fits = add_trees(config, next); !fits) {
    return failure(ErrorCode::refused, fits.error());
  }
  if (check || next == backend.trees()) {
    return {};
  }
  if (const auto outcome = backend.set_trees(next); !outcome) {
    return failure(ErrorCode::refused, outcome.error());
  }
  return {};
}

}  // namespace

Answer list_trees(Backend& backend, std::size_t limit) {
  const auto states = backend.tree_states();
  if (!states) {
    return failure(ErrorCode::late, states.error());
  }
  json rows = all_rows(backend, *states);
  const std::size_t total = rows.size();
  if (total > limit) {
    rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(limit), rows.end());
  }
  return json{
      {"rows", std::move(rows)}, {"rows_total", total}, {"switches", switches_with_trees(backend)}};
}

Answer install_trees(Backend& backend, const json& given) {
  Params params(given);
  const std::string switch_name = params.text("switch");
  const json list = params.list("trees");
  const json replaced = params.has("replace") ? params.list("replace") : json::array();
  const bool check = params.flag("check", false);
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  const auto parts = read_trees(list);
  if (!parts) {
    return failure(ErrorCode::invalid_params, parts.error());
  }
  auto jobs = read_jobs(replaced);
  if (!jobs) {
    return tl::unexpected(jobs.error());
  }
  for (const TreePart& part : *parts) {
    jobs->push_back(part.job);
  }
  if (const auto done = change(backend, switch_name, *jobs, *parts, check); !done) {
    return tl::unexpected(done.error());
  }
  return json{{"switch", switch_name}, {"trees_total", parts->size()}, {"check", check}};
}

Answer remove_trees(Backend& backend, const json& given) {
  Params params(given);
  const std::string switch_name = params.text("switch");
  const std::uint32_t job = params.number("job");
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  std::size_t removed = 0;
  if (const auto found = backend.trees().find(switch_name); found != backend.trees().end()) {
    removed = static_cast<std::size_t>(
        std::count_if(found->second.begin(), found->second.end(),
                      [&](const TreePart& part) { return part.job == job; }));
  }
  if (const auto done = change(backend, switch_name, {job}, {}, false); !done) {
    return tl::unexpected(done.error());
  }
  return json{{"switch", switch_name}, {"job", job}, {"removed_total", removed}};
}

}  // namespace tributary::control
