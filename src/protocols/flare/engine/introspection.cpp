// SPDX-License-Identifier: BSD-3-Clause
// What the engine tells operators. Not on the packet path: allocates freely.
#include "engine/port_bitmap.h"
#include "protocols/flare/engine/engine.h"

namespace tributary::flare {
namespace {

// What waits so long is worth a look.
constexpr Duration stall_min = std::chrono::milliseconds(500);

std::vector<PortIndex> ports_of(const Tree& tree, std::uint64_t children) {
  return engine::ports_of(tree.config().children, children);
}

// Operators see the low bits: no two blocks that wait have them in common.
std::uint32_t shown(std::uint64_t block) {
  return static_cast<std::uint32_t>(block);
}

template <typename Visit>
void for_each_gathering(const Tree& tree, const Visit& visit) {
  for (const auto& slot : tree.slots()) {
    if (slot.state == Slot::State::gathering) {
      visit(slot);
    }
  }
}

}  // namespace

std::vector<engine::Figure> FlareEngine::figures() const {
  auto sums = removed_;
  std::uint64_t gathering = 0;
  std::uint64_t active = 0;
  for (const auto& tree : trees_.all()) {
    sums += tree->counters;
    gathering += tree->gathering();
    active += tree->is_active() ? 1 : 0;
  }
  return {
      {"contributions_total", sums.contributions},
      {"sums_total", sums.sums},
      {"results_total", sums.results},
      {"answers_total", sums.answers},
      {"duplicates_total", sums.duplicates},
      {"stale_total", sums.stale},
      {"replays_total", sums.replays},
      {"inquiries_total", sums.inquiries},
      {"inquiries_sent_total", sums.inquiries_sent},
      {"sums_resent_total", sums.resent},
      {"trees", trees_.all().size(), engine::Merge::maximum},
      {"trees_active", active, engine::Merge::maximum},
      {"blocks_gathering", gathering},
      {"working_memory", working_memory_, engine::Merge::maximum},
      {"buffers_in_use", memory_.in_use()},
      {"buffers_high_water", memory_.high_water(), engine::Merge::maximum},
  };
}

std::vector<engine::JobStatus> FlareEngine::jobs() const {
  std::vector<engine::JobStatus> all;
  for (const auto& tree : trees_.all()) {
    auto& job = all.emplace_back();
    job.job = tree->config().job;
    job.contributions = tree->counters.contributions;
    job.results = tree->counters.results;
    job.descriptors = tree->gathering();
    job.descriptors_high_water = tree->gathering_high_water();
  }
  return all;
}

std::vector<engine::TreeStatus> FlareEngine::trees() const {
  std::vector<engine::TreeStatus> all;
  for (const auto& tree : trees_.all()) {
    const auto& counters = tree->counters;
    auto& status = all.emplace_back();
    status.job = tree->config().job;
    status.active = tree->is_active();
    status.used = tree->last_heard();
    status.figures = {
        {"window", tree->config().window, engine::Merge::maximum},
        {"blocks_gathering", tree->gathering()},
        {"contributions_total", counters.contributions},
        {"results_total", counters.results},
        {"duplicates_total", counters.duplicates},
        {"stale_total", counters.stale},
        {"replays_total", counters.replays},
        {"inquiries_sent_total", counters.inquiries_sent},
        {"sums_resent_total", counters.resent},
    };
  }
  return all;
}

std::vector<engine::DescriptorStatus> FlareEngine::descriptors(Time now, std::size_t limit) const {
  std::vector<engine::DescriptorStatus> rows;
  for (const auto& tree : trees_.all()) {
    for_each_gathering(*tree, [&](const Slot& slot) {
      if (rows.size() < limit) {
        rows.push_back({tree->config().job, shown(slot.block), slot.header.contributions.value(),
                        tree->config().workers, false, now - slot.since, tree->config().group,
                        ports_of(*tree, slot.arrived)});
      }
    });
  }
  return rows;
}

std::vector<engine::StallStatus> FlareEngine::stalled(Time now, std::size_t limit) const {
  std::vector<engine::StallStatus> stalls;
  for (const auto& tree : trees_.all()) {
    for_each_gathering(*tree, [&](const Slot& slot) {
      if (stalls.size() < limit && now - slot.since >= stall_min) {
        stalls.push_back({tree->config().job,
                          shown(slot.block),
                          0,
                          slot.header.contributions.value(),
                          tree->config().workers,
                          now - slot.since,
                          tree->config().group,
                          {},
                          ports_of(*tree, tree->missing(slot))});
      }
    });
  }
  return stalls;
}

}  // namespace tributary::flare
