// SPDX-License-Identifier: BSD-3-Clause
#include "controller/objections.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tributary::controller {
namespace {

bool has_job(const std::vector<TreePart>& parts, std::uint32_t job) {
  return std::any_of(parts.begin(), parts.end(),
                     [job](const TreePart& part) { return part.job == job; });
}

// Jobs that leave the switch come first, then those that were there, then the new ones.
std::vector<std::uint32_t> in_turn(const SwitchChange& change) {
  auto jobs = change.jobs;
  const auto leaves = [&](std::uint32_t job) { return !has_job(change.after, job); };
  const auto stays = [&](std::uint32_t job) { return has_job(change.before, job); };
  const auto arrivals = std::stable_partition(jobs.begin(), jobs.end(), leaves);
  std::stable_partition(arrivals, jobs.end(), stays);
  return jobs;
}

// Returns no objection of a switch that refuses even to let a job go: that is no matter of room,
// and trees that go around it do not mend it.
std::optional<Objection> objection_to(const SwitchChange& change, const AskSwitch& ask) {
  auto why = ask(change.switch_index, change.jobs, change.after);
  if (!why) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> jobs;
  std::vector<TreePart> parts;
  for (const std::uint32_t job : in_turn(change)) {
    jobs.push_back(job);
    std::copy_if(change.after.begin(), change.after.end(), std::back_inserter(parts),
                 [job](const TreePart& part) { return part.job == job; });
    why = ask(change.switch_index, jobs, parts);
    if (why) {
      return has_job(change.after, job)
                 ? std::optional(Objection{change.switch_index, job, std::move(*why)})
                 : std::nullopt;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<Objection> find_objections(const std::vector<SwitchChange>& changes,
                                       const AskSwitch& ask) {
  std::vector<Objection> objections;
  for (const SwitchChange& change : changes) {
    if (auto objection = objection_to(change, ask)) {
      objections.push_back(std::move(*objection));
    }
  }
  return objections;
}

}  // namespace tributary::controller
