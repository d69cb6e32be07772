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

// Operators see the low bits: no two dense blocks that wait have them in common, nor two sparse
// ones.
std::uint32_t shown(std::uint64_t block) {
  return static_cast<std::uint32_t>(block);
}

// A block that gathers, dense or sparse.
struct Gathering {
  std::uint64_t block;
  std::uint32_t contributions;
  std::uint64_t arrived;
  Time since;
  bool sparse;
};

template <typename Visit>
void for_each_gathering(const Tree& tree, const Visit& visit) {
  for (const auto& slot : tree.slots()) {
    if (slot.state == Slot::State::gathering) {
      visit(Gathering{slot.block, slot.header.contributions.value(), slot.arrived, slot.since,
                      false});
    }
  }
  if (tree.sparse() == nullptr) {
    return;
  }
  for (const auto& slot : tree.sparse()->slots()) {
    if (slot.state == SparseSlot::State::gathering) {
      visit(Gathering{slot.block, slot.contributions, slot.arrived, slot.since, true});
    }
  }
}

std::uint64_t sparse_gathering(const Tree& tree) {
  return tree.sparse() == nullptr ? 0 : tree.sparse()->gathering();
}
std::uint64_t sparse_gathering_high_water(const Tree& tree) {
  return tree.sparse() == nullptr ? 0 : tree.sparse()->gathering_high_water();
}

}  // namespace

std::vector<engine::Figure> FlareEngine::figures() const {
  auto sums = removed_;
  std::uint64_t gathering = 0;
  std::uint64_t gathering_sparse = 0;
  std::uint64_t active = 0;
  for (const auto& tree : trees_.all()) {
    sums += tree->counters;
    gathering += tree->gathering();
    gathering_sparse += sparse_gathering(*tree);
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
      {"refusals_total", sums.refusals},
      {"refusals_sent_total", sums.refusals_sent},
      {"sums_resent_total", sums.resent},
      {"sparse_contributions_total", sums.sparse_contributions},
      {"sparse_spills_total", sums.sparse_spills},
      {"sparse_sums_total", sums.sparse_sums},
      {"sparse_results_total", sums.sparse_results},
      {"sparse_answers_total", sums.sparse_answers},
      {"sparse_restarts_total", sums.sparse_restarts},
      {"trees", trees_.all().size(), engine::Merge::maximum},
      {"trees_active", active, engine::Merge::maximum},
      {"blocks_gathering", gathering},
      {"sparse_blocks_gathering", gathering_sparse},
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
    job.contributions = tree->counters.contributions + tree->counters.sparse_contributions;
    job.results = tree->counters.results + tree->counters.sparse_results;
    job.descriptors = tree->gathering() + sparse_gathering(*tree);
    job.descriptors_high_water = tree->gathering_high_water() + sparse_gathering_high_water(*tree);
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
        {"sparse_window", tree->config().sparse_window, engine::Merge::maximum},
        {"blocks_gathering", tree->gathering()},
        {"sparse_blocks_gathering", sparse_gathering(*tree)},
        {"contributions_total", counters.contributions},
        {"results_total", counters.results},
        {"sparse_contributions_total", counters.sparse_contributions},
        {"sparse_results_total", counters.sparse_results},
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
    for_each_gathering(*tree, [&](const Gathering& block) {
      if (rows.size() < limit) {
        rows.push_back({tree->config().job, shown(block.block), block.contributions,
                        tree->config().workers, false, now - block.since, tree->config().group,
                        ports_of(*tree, block.arrived), block.sparse});
      }
    });
  }
  return rows;
}

std::vector<engine::StallStatus> FlareEngine::stalled(Time now, std::size_t limit) const {
  std::vector<engine::StallStatus> stalls;
  for (const auto& tree : trees_.all()) {
    for_each_gathering(*tree, [&](const Gathering& block) {
      if (stalls.size() < limit && now - block.since >= stall_min) {
        const auto missing = tree->ports().all_children() & ~block.arrived;
        stalls.push_back({tree->config().job,
                          shown(block.block),
                          0,
                          block.contributions,
                          tree->config().workers,
                          now - block.since,
                          tree->config().group,
                          {},
                          ports_of(*tree, missing),
                          block.sparse});
      }
    });
  }
  return stalls;
}

}  // namespace tributary::flare
