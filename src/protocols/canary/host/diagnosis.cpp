// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/canary/host/diagnosis.h"

#include <cstdint>

#include "host/path_search.h"
#include "host/text.h"

namespace tributary::host {
namespace {

constexpr std::uint32_t blocks_shown_max = 4;

std::string describe_led(const CollectiveState& state, const CanaryLeader& leader,
                         std::uint32_t block) {
  const auto expected = state.job.world_size() - 1;
  const auto missing = leader.missing(block, ranks_shown_max + 1);
  return std::to_string(expected - leader.contributions(block)) + " of " +
         std::to_string(expected) + " contributions missing, " +
         (missing.empty() ? "though all ranks sent theirs"
                          : "no contribution of " + ranks_text(missing));
}

std::string describe(const CollectiveState& state, const CanaryWorker& worker,
                     const CanaryLeader& leader, std::uint32_t block) {
  const auto led_by = state.blocks.leader(block);
  auto text = "block " + std::to_string(block) + " (led by rank " + std::to_string(led_by) + "): ";
  if (led_by == state.job.rank) {
    return text + describe_led(state, leader, block);
  }
  const auto awaited = worker.awaited(block);
  if (worker.is_unanswered(block)) {
    text += "no result; rank " + std::to_string(led_by) + " does not answer";
    return awaited.empty() ? text : text + " any more; it waited for " + ranks_text(awaited);
  }
  return text + "no result" +
         (awaited.empty() ? "" : "; its leader waits for " + ranks_text(awaited));
}

// Says whether each rank was told again and again to send its part of the block by itself, by small
// packets. The parts, full packets, may be all that is lost.
bool is_sent_directly(const CollectiveState& state, const CanaryWorker& worker,
                      const CanaryLeader& leader, std::uint32_t block) {
  const bool leads = state.blocks.leader(block) == state.job.rank;
  return (leads ? leader.attempt(block) : worker.attempt(block)) == wire::canary_direct_attempt;
}

}  // namespace

std::string diagnose(const CollectiveState& state, const CanaryWorker& worker,
                     const CanaryLeader& leader) {
  const auto& progress = state.progress;
  auto text = state.deadline.explain(name(state.blocks.call().collective)) + ": ";
  // The lowest come first: the later ones may only wait for the window.
  std::uint32_t shown = 0;
  bool any_direct = false;
  for (auto block = progress.base(); block < progress.next() && shown < blocks_shown_max; ++block) {
    if (!progress.done(block)) {
      text += describe(state, worker, leader, block) + "; ";
      any_direct |= is_sent_directly(state, worker, leader, block);
      ++shown;
    }
  }
  text += std::to_string(progress.open()) + " of " + std::to_string(progress.blocks()) +
          " blocks in flight, " + std::to_string(progress.base()) + " done in sequence" +
          (any_direct ? smaller_path : "");
  if (const auto mismatches = state.statistics.ignored[Verdict::mismatch] - state.mismatches_before;
      mismatches != 0) {
    text += "; " + std::to_string(mismatches) +
            " packets had another type, operator or length: do all ranks call the same collective?";
  }
  if (worker.disbelieved() != 0 && needs_handler(state.blocks.call())) {
    text += "; " + std::to_string(worker.disbelieved()) +
            " results were not believed: " + different_handlers(state.blocks.op());
  }
  return text;
}

}  // namespace tributary::host
