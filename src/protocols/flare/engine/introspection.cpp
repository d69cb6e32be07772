// SPDX-License-Identifier: BSD-3-Clause
// This is what the engine tells operators. It is not on the packet path, so it allocates freely.
#include "engine/waiting_blocks.h"
#include "protocols/flare/engine/engine.h"

namespace tributary::flare {
namespace {

// Operators see the low bits: no two dense blocks that wait have them in common, nor two sparse
// ones.
std::uint32_t shown(std::uint64_t block) {
  return static_cast<std::uint32_t>(block);
}

std::uint64_t sparse_gathering(const Tree& tree) {
  return tree.sparse() == nullptr ? 0 : tree.sparse()->gathering();
}
std::uint64_t sparse_gathering_high_water(const Tree& tree) {
  return tree.sparse() == nullptr ? 0 : tree.sparse()->gathering_high_water();
}

// Returns the blocks that gather, dense and sparse.
std::vector<engine::WaitingBlock> waiting_in(const Tree& tree) {
  std::vector<engine::WaitingBlock> all;
  for (const auto& slot : tree.slots()) {
    if (slot.state == Slot::State::gathering) {
      all.push_back(
          {shown(slot.block), slot.header.contributions.value(), slot.arrived, slot.since});
    }
  }
  if (tree.sparse() == nullptr) {
    return all;
  }
  for (const auto& slot : tree.sparse()->slots()) {
    if (slot.state == SparseSlot::State::gathering) {
      all.push_back({shown(slot.block), slot.contributions, slot.arrived, slot.since, 0, true});
    }
  }
  return all;
}

}  // namespace

std::vector<engine::FigureKind> FlareEngine::figure_kinds() {
  return engine::kinds_of(standing_figures, tree_counters);
}

std::vector<engine::Figure> FlareEngine::figures() const {
  auto sums = removed_;
  Standing now = {.trees = trees_.all().size(),
                  .memory = working_memory_,
                  .in_use = memory_.in_use(),
                  .high_water = memory_.high_water()};
  for (const auto& tree : trees_.all()) {
    engine::add_numbers(sums, tree->counters, tree_counters);
    now.gathering += tree->gathering();
    now.sparse_gathering += sparse_gathering(*tree);
    now.active += tree->is_active() ? 1 : 0;
  }
  std::vector<engine::Figure> all;
  engine::append_figures(all, now, standing_figures, engine::Of::engine);
  engine::append_figures(all, sums, tree_counters, engine::Of::engine);
  return all;
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
    auto& status = all.emplace_back();
    status.job = tree->config().job;
    status.active = tree->is_active();
    status.used = tree->last_heard();
    const Standing now = {.window = tree->config().window,
                          .sparse_window = tree->config().sparse_window,
                          .gathering = tree->gathering(),
                          .sparse_gathering = sparse_gathering(*tree)};
    engine::append_figures(status.figures, now, standing_figures, engine::Of::tree);
    engine::append_figures(status.figures, tree->counters, tree_counters, engine::Of::tree);
  }
  return all;
}

std::vector<engine::DescriptorStatus> FlareEngine::descriptors(Time now, std::size_t limit) const {
  return engine::descriptors_of(trees_, waiting_in, now, limit);
}

std::vector<engine::StallStatus> FlareEngine::stalled(Time now, std::size_t limit) const {
  return engine::stalls_of(trees_, waiting_in, now, limit);
}

}  // namespace tributary::flare
