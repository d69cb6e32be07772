// SPDX-License-Identifier: BSD-3-Clause
// This is what the engine tells operators. It is not on the packet path, so it allocates freely.
#include <algorithm>
#include <map>
#include <optional>

#include "engine/waiting_blocks.h"
#include "protocols/panama/engine/engine.h"

namespace tributary::panama {
namespace {

// Returns the first packet of the epoch that somebody has waited for longest.
std::optional<engine::WaitingBlock> waiting_for_epoch(const Tree& tree) {
  const auto* longest = tree.early.longest();
  if (longest == nullptr) {
    return std::nullopt;
  }
  const auto there = tree.early.find(longest->round);
  return engine::WaitingBlock{there.lowest_vid, there.workers, there.children, longest->since,
                              longest->round.epoch};
}

// Returns the packets that wait, in the order of their positions.
std::vector<engine::WaitingBlock> waiting_in(const Tree& tree) {
  std::vector<engine::WaitingBlock> all;
  for (auto position = tree.top > tree.rows() ? tree.top - tree.rows() : 0; position < tree.top;
       ++position) {
    const auto& row = tree.row(position);
    if (tree.is_known(position) && row.state == Row::State::gathering) {
      all.push_back({row.header.vid.value(), row.header.contributions.value(), row.arrived,
                     row.since, row.header.epoch.value()});
    }
  }
  if (const auto waiting = waiting_for_epoch(tree)) {
    all.push_back(*waiting);
  }
  return all;
}

}  // namespace

std::vector<engine::FigureKind> PanamaEngine::figure_kinds() {
  return engine::kinds_of(standing_figures, tree_counters);
}

std::vector<engine::Figure> PanamaEngine::figures() const {
  auto sums = removed_;
  Standing now = {.trees = memory_.trees(),
                  .active = memory_.active(),
                  .cap = memory_.packets(),
                  .memory = memory_.packets(),
                  .granted = memory_.granted(),
                  .kept = buffers_.kept(),
                  .kept_high_water = buffers_.kept_high_water()};
  for (const auto& tree : trees_.all()) {
    engine::add_numbers(sums, tree->counters, tree_counters);
    now.gathering += tree->gathering;
    now.cap = std::min<std::uint64_t>(now.cap, memory_.target(tree->grant));
    now.early += tree->early.count();
  }
  for (const auto& port : buffers_.ports()) {
    now.held = std::max<std::uint64_t>(now.held, port.held);
    now.held_high_water = std::max<std::uint64_t>(now.held_high_water, port.high_water);
  }
  std::vector<engine::Figure> all;
  engine::append_figures(all, now, standing_figures, engine::Of::engine);
  engine::append_figures(all, sums, tree_counters, engine::Of::engine);
  return all;
}

std::vector<engine::JobStatus> PanamaEngine::jobs() const {
  std::map<std::uint32_t, engine::JobStatus> jobs;
  for (const auto& tree : trees_.all()) {
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
  for (const auto& tree : trees_.all()) {
    auto& status = all.emplace_back();
    status.job = tree->config().job;
    status.tree = tree->config().tree;
    status.active = tree->grant.active;
    if (tree->last_taken != Time{}) {
      status.used = tree->last_taken;
    }
    const Standing now = {.epoch = tree->epochs.any() ? tree->epochs.current() : 0,
                          .expected = tree->expected - tree->epochs.first(),
                          .shown_cap = memory_.shown_cap(tree->grant),
                          .granted_here = tree->grant.packets,
                          .held_here = tree->waiting_max()};
    engine::append_figures(status.figures, now, standing_figures, engine::Of::tree);
    engine::append_figures(status.figures, tree->counters, tree_counters, engine::Of::tree);
  }
  return all;
}

std::vector<engine::DescriptorStatus> PanamaEngine::descriptors(Time now, std::size_t limit) const {
  return engine::descriptors_of(trees_, waiting_in, now, limit);
}

std::vector<engine::StallStatus> PanamaEngine::stalled(Time now, std::size_t limit) const {
  return engine::stalls_of(trees_, waiting_in, now, limit);
}

}  // namespace tributary::panama
