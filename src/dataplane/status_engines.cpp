// SPDX-License-Identifier: BSD-3-Clause
// The Dataplane tells this about its engines: each core's part, fetched between two of its bursts,
// merged.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "dataplane/dataplane.h"
#include "dataplane/merge.h"

namespace tributary::dataplane {
namespace {

// Asks all engines of a core: visit(number of the switch, view, now).
template <typename Visit>
auto each_engine(Visit visit) {
  return [visit](Core& core, Time now) {
    for (std::size_t s = 0; s < core.shares().size(); ++s) {
      for (const auto& view : core.shares()[s].logical->engines()) {
        visit(s, view, now);
      }
    }
  };
}

}  // namespace

control::Queried<std::vector<control::EngineStatus>> Dataplane::engines() {
  const std::lock_guard lock(mutex_);
  std::map<std::pair<std::size_t, std::string>, control::EngineStatus> merged;
  const auto asked = on_cores(each_engine([&](std::size_t s, const auto& view, Time) {
    auto& row = merged[{s, std::string(view.name)}];
    row.switch_name = config_.switches[s].config.name;
    row.engine = view.name;
    for (const auto& figure : view.engine->figures()) {
      merge_figure(row.figures, figure);
    }
  }));
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<control::EngineStatus> rows;
  for (auto& [key, row] : merged) {
    rows.push_back(std::move(row));
  }
  return rows;
}

control::Queried<std::vector<control::JobRow>> Dataplane::jobs() {
  const std::lock_guard lock(mutex_);
  std::map<std::tuple<std::size_t, std::string, std::uint32_t>, engine::JobStatus> merged;
  const auto asked = on_cores(each_engine([&](std::size_t s, const auto& view, Time) {
    for (const auto& job : view.engine->jobs()) {
      merged[{s, std::string(view.name), job.job}].merge(job);
    }
  }));
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<control::JobRow> rows;
  for (const auto& [key, job] : merged) {
    rows.push_back({config_.switches[std::get<0>(key)].config.name, std::get<1>(key), job});
  }
  return rows;
}

control::Queried<std::vector<control::DescriptorRow>> Dataplane::descriptors(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  std::vector<control::DescriptorRow> rows;
  const auto asked = on_cores(each_engine([&](std::size_t s, const auto& view, Time now) {
    if (rows.size() == limit) {
      return;
    }
    for (auto& descriptor : view.engine->descriptors(now, limit - rows.size())) {
      rows.push_back(
          {config_.switches[s].config.name, std::string(view.name), std::move(descriptor)});
    }
  }));
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  return rows;
}

control::Queried<std::vector<control::StallRow>> Dataplane::stalled(std::size_t limit) {
  const std::lock_guard lock(mutex_);
  Stalls merged;
  const auto asked = on_cores(each_engine([&](std::size_t s, const auto& view, Time now) {
    for (const auto& stall : view.engine->stalled(now, limit)) {
      merge_stall(merged, s, std::string(view.name), stall);
    }
  }));
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<control::StallRow> rows;
  for (const auto& [key, stall] : merged) {
    const auto s = std::get<0>(key);
    control::StallRow row{config_.switches[s].config.name, std::get<1>(key), stall, {}};
    for (const auto port : stall.missing_ports) {
      row.missing_ports.push_back(port_name(static_cast<std::uint32_t>(s), port));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

control::Queried<std::vector<control::TreeRow>> Dataplane::tree_states() {
  const std::lock_guard lock(mutex_);
  std::map<std::tuple<std::size_t, std::string, std::uint32_t, std::uint16_t>, control::TreeRow>
      merged;
  const auto asked = on_cores(each_engine([&](std::size_t s, const auto& view, Time now) {
    for (const auto& tree : view.engine->trees()) {
      const std::string engine(view.name);
      const auto [at, is_first] =
          merged.try_emplace({s, engine, tree.job, tree.tree},
                             control::TreeRow{config_.switches[s].config.name, tree, {}, engine});
      auto& row = at->second;
      if (!is_first) {
        merge_tree(row.tree, tree);
      }
      if (const auto& used = row.tree.used) {
        row.idle = std::max(Duration{}, now - *used);
      }
    }
  }));
  if (!asked) {
    return tl::unexpected(asked.error());
  }
  std::vector<control::TreeRow> rows;
  for (auto& entry : merged) {
    rows.push_back(std::move(entry.second));
  }
  return rows;
}

}  // namespace tributary::dataplane
