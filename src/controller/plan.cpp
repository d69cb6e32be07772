// SPDX-License-Identifier: BSD-3-Clause
#include "controller/plan.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "control/protocol_section.h"
#include "controller/former.h"
#include "controller/obstacles.h"

namespace tributary::controller {
namespace {

// Returns the jobs of each engine, by their places in the file.
std::map<std::string, std::vector<std::size_t>> jobs_by_engine(const FabricFile& file) {
  std::map<std::string, std::vector<std::size_t>> engines;
  for (std::size_t job = 0; job < file.jobs.size(); ++job) {
    engines[file.jobs[job].engine].push_back(job);
  }
  return engines;
}

// Nobody knows what is above such a part, as the switch there does not answer.
bool leads_to_silence(const PlacedPart& each, const FabricFile& file, const LiveFabric& live) {
  const auto is_silent_beyond = [&](const SwitchPort& near, const SwitchPort& far) {
    return leads(near, each.switch_index, *each.part.parent) &&
           live.silence(far.switch_index).has_value();
  };
  const auto& links = file.topology.links;
  return std::any_of(links.begin(), links.end(), [&](const Link& link) {
    return is_silent_beyond(link.a, link.b) || is_silent_beyond(link.b, link.a);
  });
}

// Counts the trees that have a root, or may have one, or that the job is known to have had: the
// others are what a switch that was gone has left.
std::size_t trees_of(const FabricFile& file, const LiveFabric& live, const Job& job,
                     const TreeCounts& before) {
  const auto had = before.find(job.id);
  auto known = had == before.end() ? 0 : had->second;
  if (job.trees != 0) {  // the file may have come to want fewer
    known = std::min(known, job.trees);
  }
  std::size_t count = 0;
  for (const PlacedPart& each : live.changeable()) {
    if (each.part.job == job.id && each.part.engine == job.engine &&
        (!each.part.parent || each.part.tree < known || leads_to_silence(each, file, live))) {
      count = std::max<std::size_t>(count, each.part.tree + 1u);
    }
  }
  return std::min(count, job.limits.trees_max);
}

void add_new(std::vector<std::string>& all, const std::vector<std::string>& more) {
  for (const std::string& each : more) {
    if (std::find(all.begin(), all.end(), each) == all.end()) {
      all.push_back(each);
    }
  }
}

// Engines are placed one after the other, and share links and groups.
void note_placed(const PlacedJob& job, std::vector<PlacedPart>& known) {
  if (job.trees.empty()) {
    return;
  }
  std::erase_if(known, [&](const PlacedPart& each) { return each.part.job == job.id; });
  for (const auto& tree : job.trees) {
    known.insert(known.end(), tree.parts.begin(), tree.parts.end());
  }
}

Plan plan_once(const FabricFile& file, const LiveFabric& live, bool silent_usable, Trees trees,
               const TreeCounts& before) {
  Plan plan;
  plan.placement.jobs.resize(file.jobs.size());
  auto known = live.installed();
  for (const auto& [engine, places] : jobs_by_engine(file)) {
    const auto topology = live.topology(engine, silent_usable);
    std::vector<Job> jobs;
    for (const std::size_t place : places) {
      jobs.push_back(file.jobs[place]);
      if (trees == Trees::keep_number) {
        jobs.back().trees_kept = trees_of(file, live, jobs.back(), before);
      }
    }
    auto placed = place_what_fits(topology, jobs, known, file.groups);
    for (std::size_t i = 0; i < places.size(); ++i) {
      note_placed(placed.jobs[i], known);
      plan.placement.jobs[places[i]] = std::move(placed.jobs[i]);
    }
    auto& refusals = plan.placement.refusals;
    refusals.insert(refusals.end(), placed.refusals.begin(), placed.refusals.end());
    add_new(plan.obstacles, obstacles(topology));
  }
  return plan;
}

std::vector<std::uint32_t> placed_jobs(const Plan& plan) {
  std::vector<std::uint32_t> ids;
  for (const PlacedJob& job : plan.placement.jobs) {
    if (!job.trees.empty()) {
      ids.push_back(job.id);
    }
  }
  return ids;
}

void take_note(const Objection& objection, FabricFile& file) {
  for (Job& job : file.jobs) {
    if (job.id == objection.job) {
      job.refused_by.emplace(objection.switch_index, objection.why);
    }
  }
}

}  // namespace

std::vector<PlacedPart> Plan::parts() const {
  std::vector<PlacedPart> parts;
  for (const auto& job : placement.jobs) {
    for (const auto& tree : job.trees) {
      parts.insert(parts.end(), tree.parts.begin(), tree.parts.end());
    }
  }
  return parts;
}

std::vector<Objection> Plan::detours() const {
  const auto placed = placed_jobs(*this);
  std::vector<Objection> detours;
  std::copy_if(objections.begin(), objections.end(), std::back_inserter(detours),
               [&](const Objection& each) {
                 return std::find(placed.begin(), placed.end(), each.job) != placed.end();
               });
  return detours;
}

Plan make_plan(const FabricFile& file, LiveFabric& live, bool silent_usable, Trees trees,
               std::vector<Objection> known, const TreeCounts& before) {
  const auto ask = [&live](std::size_t sw, const auto& jobs, const auto& parts) {
    return live.objection(sw, jobs, parts);
  };
  FabricFile asked = file;
  auto objections = std::move(known);
  for (const Objection& each : objections) {
    take_note(each, asked);
  }
  while (true) {
    Plan plan = plan_once(asked, live, silent_usable, trees, before);
    // Each objection names a switch that its job had a tree on, and has none on from now on, so
    // they come to an end.
    const auto found =
        find_objections(changes_between(live.changeable(), plan.parts(), placed_jobs(plan)), ask);
    if (found.empty()) {
      plan.objections = std::move(objections);
      return plan;
    }
    for (const Objection& each : found) {
      take_note(each, asked);
    }
    objections.insert(objections.end(), found.begin(), found.end());
  }
}

control::Environment environment_of(const FabricFile& file, std::size_t job,
                                    const PlacedJob& placed) {
  const Job& wanted = file.jobs[job];
  control::JobTrees trees{placed.id, {}, {}, wanted.settings};
  for (const auto& tree : placed.trees) {
    trees.groups.push_back(tree.group);
  }
  if (wanted.quorum < wanted.hosts.size()) {
    trees.share = file.shares[job];
  }
  control::Environment variables = {{"TRIBUTARY_ALGORITHM", wanted.engine},
                                    {"TRIBUTARY_JOB", std::to_string(placed.id)}};
  for (auto& variable : control::tree_section(wanted.engine)->trees->environment(trees)) {
    variables.push_back(std::move(variable));
  }
  return variables;
}

}  // namespace tributary::controller
