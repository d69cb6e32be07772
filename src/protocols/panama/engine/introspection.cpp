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

std::vector<engine::Figure> PanamaEngine::figures() const {
  auto sums = removed_;
  std::uint64_t gathering = 0;
  std::uint64_t early = 0;
  std::uint32_t held = 0;
  std::uint32_t high_water = 0;
  for (const auto& tree : trees_.all()) {
    engine::add_counters(sums, tree->counters, tree_counters);
    gathering += tree->gathering;
    early += tree->early.count();
  }
  for (const auto& port : buffers_.ports()) {
    held = std::max(held, port.held);
    high_water = std::max(high_water, port.high_water);
  }
  std::vector<engine::Figure> all = {
      {"trees", memory_.trees(), engine::Merge::maximum},
      {"trees_active", memory_.active()},
      {"wnd_cap", memory_.target(), engine::Merge::minimum},
      {"packet_memory", memory_.packets(), engine::Merge::maximum},
      {"packets_granted", memory_.granted(), engine::Merge::maximum},
      {"packets_held", held, engine::Merge::maximum},
      {"packets_held_high_water", high_water, engine::Merge::maximum},
      {"packets_kept", buffers_.kept()},
      {"packets_kept_high_water", buffers_.kept_high_water(), engine::Merge::maximum},
      {"rows_gathering", gathering},
      {"packets_early", early},
  };
  engine::append_counters(all, sums, tree_counters, engine::CountersOf::all);
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
    status.figures = {
        {"epoch", tree->epochs.any() ? tree->epochs.current() : 0},
        {"expected_vid", tree->expected - tree->epochs.first()},  // all before it went by here
        {"wnd_cap_packets", memory_.shown_cap(tree->grant)},      // what senders are told
        {"granted_packets", tree->grant.packets},                 // of memory, at each port
        {"held_packets", tree->waiting_max()},                    // at the fullest of its ports
    };
    engine::append_counters(status.figures, tree->counters, tree_counters,
                            engine::CountersOf::tree);
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
