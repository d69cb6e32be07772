// SPDX-License-Identifier: BSD-3-Clause
#include "controller/fabric_watch.h"

#include <algorithm>

#include "controller/fabric_texts.h"

namespace tributary::controller {
namespace {

constexpr unsigned looks_max = 60;

void append(std::vector<std::string>& all, const std::vector<std::string>& more) {
  all.insert(all.end(), more.begin(), more.end());
}
void append(std::vector<std::string>& all, const control::ConfigErrors& errors) {
  for (const auto& error : errors) {
    all.push_back(control::to_string(error));
  }
}

// These switches do not answer. One that refuses, or says what is not understood, is there.
struct Silent {
  std::set<std::string> switches;
  bool all_gone = true;
};

Silent silent_in(const FabricFile& file, const LiveFabric& live) {
  using Kind = control::CallError::Kind;
  Silent silent;
  for (std::size_t sw = 0; sw < file.points.size(); ++sw) {
    if (const auto& error = live.silence(sw)) {
      silent.switches.insert(file.topology.switches[sw].name);
      const bool is_gone = error->kind == Kind::no_daemon || error->kind == Kind::timeout;
      silent.all_gone = silent.all_gone && is_gone;
    }
  }
  return silent;
}

}  // namespace

Look FabricWatch::look(LoadedFabric loaded) {
  Look look;
  if (loaded) {
    file_ = std::move(*loaded);
  } else {
    append(look.problems, loaded.error());
    gone_before_.clear();  // this look does not tell which jobs are gone
  }
  LiveFabric live(file_, timeout_, std::move(connections_));
  append(look.problems, silent_texts(file_, live));
  append(look.problems, live.faults());
  auto silent = silent_in(file_, live);
  // A daemon that is restarted is back by the next look.
  const bool settled = silent.switches == silent_;
  silent_ = std::move(silent.switches);
  if (settled && silent.all_gone && live.faults().empty()) {
    bring_about(live, look);
  }
  connections_ = live.release();
  return look;
}

// Returns the jobs that were taken out of the file and have ended: nobody sends through their
// trees. A file that is being written may lack some, and a job that was gone for good may be
// another controller's: so a job counts if it was there once, and was not at two looks.
FabricWatch::Jobs FabricWatch::ended_jobs(const LiveFabric& live) {
  Jobs gone = known_;
  for (const auto& job : file_.jobs) {
    gone.erase(job.id);
    known_.insert(job.id);
  }
  Jobs installed;
  for (const auto& part : live.changeable()) {
    installed.insert(part.part.job);
  }
  Jobs ended;
  for (const auto job : gone) {
    told_.erase(job);  // whoever ends a job may take its file away
    trees_.erase(job);
    if (live.all_answer() && !installed.contains(job)) {
      known_.erase(job);
    } else if (gone_before_.contains(job)) {
      ended.insert(job);
    }
  }
  gone_before_ = std::move(gone);
  for (const auto& use : live.uses()) {
    ended.erase(use.job);
  }
  return ended;
}

void FabricWatch::bring_about(LiveFabric& live, Look& look) {
  auto seeds = live.give_seeds();
  look.seeds = std::move(seeds.changes);
  append(look.problems, seeds.problems);
  const auto plan = make_plan(file_, live, false, Trees::keep_number,
                              objections_.at(circumstances_of(file_, live)), trees_);
  objections_.note(plan.objections);
  append(look.problems, errors_of(file_, plan.placement.refusals));
  look.detours = detour_texts(file_, plan);
  for (const auto job : ended_jobs(live)) {
    change(job, {}, live, look);
  }
  const auto parts = plan.parts();
  for (std::size_t i = 0; i < file_.jobs.size(); ++i) {
    const auto& placed = plan.placement.jobs[i];
    if (placed.trees.empty()) {
      continue;  // it keeps what it has
    }
    if (change(placed.id, parts, live, look)) {
      trees_[placed.id] = placed.trees.size();
      tell_workers(i, placed, look);
    }
    if (file_.jobs[i].trees != 0 && file_.jobs[i].trees != placed.trees.size()) {
      look.problems.push_back("job " + std::to_string(placed.id) + " keeps its number of trees, " +
                              std::to_string(placed.trees.size()) +
                              ", while it is installed; `tributaryctl fabric apply` changes it, "
                              "between two runs of the job");
    }
  }
}

// Tells workers what they set, if that is not what they were told already.
void FabricWatch::tell_workers(std::size_t place, const PlacedJob& placed, Look& look) {
  auto environment = environment_of(file_, place, placed);
  auto& told = told_[placed.id];
  if (told == environment) {
    return;
  }
  if (const auto done = tell_(placed.id, environment); !done) {
    look.problems.push_back(done.error());
    return;
  }
  told = std::move(environment);
}

// Changes each job by itself, so that one that a switch refuses does not hold up the others.
// Returns whether the switches have what they are to have.
bool FabricWatch::change(std::uint32_t job, const std::vector<PlacedPart>& wanted, LiveFabric& live,
                         Look& look) {
  const auto changes = changes_between(live.changeable(), wanted, {job});
  if (changes.empty()) {
    refused_.erase(job);
    return true;
  }
  const auto known = refused_.find(job);
  const bool again = known != refused_.end() && known->second.changes == changes;
  if (again && --known->second.left != 0) {
    look.problems.push_back(known->second.why);
    return false;
  }
  if (const auto done = live.carry_out(changes); !done) {
    const unsigned looks = again ? std::min(2 * known->second.looks, looks_max) : 1;
    refused_[job] = {changes, text_of(file_, done.error()), looks, looks};
    look.problems.push_back(refused_[job].why);
    return false;
  }
  refused_.erase(job);
  look.changed.insert(look.changed.end(), changes.begin(), changes.end());
  return true;
}

}  // namespace tributary::controller
