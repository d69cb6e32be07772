// SPDX-License-Identifier: BSD-3-Clause
#include "controller/fabric_transaction.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tributary::controller {
namespace {

using JobParts = std::map<std::uint32_t, std::vector<TreePart>>;

std::map<std::size_t, JobParts> by_switch_and_job(const std::vector<PlacedPart>& parts,
                                                  const std::vector<std::uint32_t>& jobs) {
  std::map<std::size_t, JobParts> sorted;
  for (const PlacedPart& each : parts) {
    if (std::find(jobs.begin(), jobs.end(), each.part.job) != jobs.end()) {
      sorted[each.switch_index][each.part.job].push_back(each.part);
    }
  }
  for (auto& entry : sorted) {
    for (auto& job : entry.second) {
      std::sort(job.second.begin(), job.second.end(),
                [](const TreePart& a, const TreePart& b) { return a.tree < b.tree; });
    }
  }
  return sorted;
}

// Goes back to what was there, the last change first.
void roll_back(const std::vector<SwitchChange>& changes, std::size_t count,
               const InstallParts& install, TransactionFailure& failure) {
  while (count-- > 0) {
    const SwitchChange& change = changes[count];
    const auto restored = install(change.switch_index, change.jobs, change.before, false);
    if (!restored) {
      failure.left.emplace_back(change.switch_index, restored.error().message);
    }
  }
}

}  // namespace

std::vector<SwitchChange> changes_between(const std::vector<PlacedPart>& installed,
                                          const std::vector<PlacedPart>& wanted,
                                          const std::vector<std::uint32_t>& jobs) {
  auto before = by_switch_and_job(installed, jobs);
  auto after = by_switch_and_job(wanted, jobs);
  std::map<std::size_t, SwitchChange> changes;
  for (const std::uint32_t job : jobs) {
    std::map<std::size_t, bool> switches;
    for (const auto* side : {&before, &after}) {
      for (const auto& entry : *side) {
        switches[entry.first] = true;
      }
    }
    for (const auto& entry : switches) {
      const std::size_t sw = entry.first;
      const auto& had = before[sw][job];
      const auto& gets = after[sw][job];
      if (had == gets) {
        continue;
      }
      auto& change = changes[sw];
      change.switch_index = sw;
      change.jobs.push_back(job);
      change.before.insert(change.before.end(), had.begin(), had.end());
      change.after.insert(change.after.end(), gets.begin(), gets.end());
    }
  }
  std::vector<SwitchChange> list;
  for (auto& entry : changes) {
    list.push_back(std::move(entry.second));
  }
  return list;
}

tl::expected<void, TransactionFailure> carry_out(const std::vector<SwitchChange>& changes,
                                                 const InstallParts& install) {
  for (const SwitchChange& change : changes) {
    const auto fits = install(change.switch_index, change.jobs, change.after, true);
    if (!fits) {
      return tl::unexpected(TransactionFailure{change.switch_index, fits.error(), false, {}});
    }
  }
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const SwitchChange& change = changes[i];
    const auto done = install(change.switch_index, change.jobs, change.after, false);
    if (!done) {
      TransactionFailure failure{change.switch_index, done.error(), true, {}};
      // The one that failed is rolled back, too: it may have done what it could not say.
      roll_back(changes, i + 1, install, failure);
      return tl::unexpected(std::move(failure));
    }
  }
  return {};
}

}  // namespace tributary::controller
