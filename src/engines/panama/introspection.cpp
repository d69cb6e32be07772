// SPDX-License-Identifier: BSD-3-Clause
// What the engine tells operators. Not on the packet path: allocates freely.
#include <algorithm>
#include <map>

#include "engines/panama/engine.h"

namespace tributary::panama {
namespace {

// What waits so long is worth a look.
constexpr Duration stall_min = std::chrono::milliseconds(500);

std::vector<PortIndex> ports_of(const Tree& tree, std::uint64_t children) {
  std::vector<PortIndex> ports;
  for (std::size_t i = 0; i < tree.config().children.size(); ++i) {
    if ((children >> i & 1) != 0) {
      ports.push_back(tree.config().children[i]);
    }
  }
  return ports;
}

// Rows that gather, in the order of their positions.
template <typename Visit>
void for_each_gathering(const Tree& tree, Visit visit) {
  for (auto position = tree.top > tree.rows() ? tree.top - tree.rows() : 0; position < tree.top;
       ++position) {
    const auto& row = tree.row(position);
    if (row.state == Row::State::gathering && row.position == position) {
      visit(row);
    }
  }
}

}  // namespace

std::vector<engine::Figure> PanamaEngine::figures() const {
  auto sums = removed_;
  std::uint64_t gathering = 0;
  std::uint32_t held = 0;
  std::uint32_t high_water = 0;
  for (const auto& tree : trees_) {
    sums += tree->counters;
    gathering += tree->gathering;
  }
  for (const auto& port : ports_) {
    held = std::max(held, port.held);
    high_water = std::max(high_water, port.high_water);
  }
  return {
      {"contributions_total", sums.contributions},
      {"sums_total", sums.sums},
      {"partial_sums_total", sums.partial},
      {"results_total", sums.results},
      {"results_congested_total", sums.congested},
      {"skipped_total", sums.skipped},
      {"replaced_total", sums.replaced},
      {"late_total", sums.late},
      {"duplicates_total", sums.duplicates},
      {"replays_total", sums.replays},
      {"sums_resent_total", sums.resent},
      {"over_cap_total", sums.over_cap},
      {"trees", memory_.trees(), engine::Merge::maximum},
      {"trees_active", memory_.active()},
      {"wnd_cap", memory_.target(), engine::Merge::minimum},
      {"packet_memory", memory_.packets(), engine::Merge::maximum},
      {"packets_granted", memory_.granted(), engine::Merge::maximum},
      {"packets_held", held, engine::Merge::maximum},
      {"packets_held_high_water", high_water, engine::Merge::maximum},
      {"packets_kept", kept_},
      {"packets_kept_high_water", kept_high_water_, engine::Merge::maximum},
      {"rows_gathering", gathering},
  };
}

std::vector<engine::JobStatus> PanamaEngine::jobs() const {
  std::map<std::uint32_t, engine::JobStatus> jobs;
  for (const auto& tree : trees_) {
    auto& job = jobs[tree->config().job];
    job.job = tree->config().job;
    job.contributions += tree->counters.contributions;
    job.results += tree->counters.results;
    job.descriptors += tree->gathering;
    job.descriptors_high_water += tree->gathering_high_water;
  }
  std::vector<engine::JobStatus> all;
  for (const auto& [id, job] : jobs) {
    all.push_back(job);
  }
  return all;
}

std::vector<engine::TreeStatus> PanamaEngine::trees() const {
  std::vector<engine::TreeStatus> all;
  for (const auto& tree : trees_) {
    engine::TreeStatus status;
    status.job = tree->config().job;
    status.tree = tree->config().tree;
    status.group = tree->config().group;
    status.active = tree->grant.active;
    if (tree->last_taken != Time{}) {
      status.used = tree->last_taken;
    }
    status.epoch = tree->epochs.any() ? tree->epochs.current() : 0;
    status.expected_vid = tree->expected - tree->epochs.first();
    status.wnd_cap = memory_.shown_cap(tree->grant);
    status.granted = tree->grant.packets;
    status.held = tree->held_max();
    status.contributions = tree->counters.contributions;
    status.results = tree->counters.results;
    status.congested = tree->counters.congested;
    status.partial = tree->counters.partial;
    status.skipped = tree->counters.skipped;
    status.late = tree->counters.late;
    status.duplicates = tree->counters.duplicates;
    status.replays = tree->counters.replays;
    status.over_cap = tree->counters.over_cap;
    all.push_back(status);
  }
  return all;
}

std::vector<engine::DescriptorStatus> PanamaEngine::descriptors(Time now, std::size_t limit) const {
  std::vector<engine::DescriptorStatus> rows;
  for (const auto& tree : trees_) {
    for_each_gathering(*tree, [&](const Row& row) {
      if (rows.size() < limit) {
        rows.push_back({tree->config().job, row.header.vid.value(),
                        row.header.contributions.value(), tree->config().workers, false,
                        now - row.since, tree->config().group, ports_of(*tree, row.arrived)});
      }
    });
  }
  return rows;
}

std::vector<engine::StallStatus> PanamaEngine::stalled(Time now, std::size_t limit) const {
  std::vector<engine::StallStatus> stalls;
  for (const auto& tree : trees_) {
    for_each_gathering(*tree, [&](const Row& row) {
      if (stalls.size() < limit && now - row.since >= stall_min) {
        stalls.push_back({tree->config().job,
                          row.header.vid.value(),
                          row.header.epoch.value(),
                          row.header.contributions.value(),
                          tree->config().workers,
                          now - row.since,
                          tree->config().group,
                          {},
                          ports_of(*tree, tree->all_children() & ~row.arrived)});
      }
    });
  }
  return stalls;
}

}  // namespace tributary::panama
