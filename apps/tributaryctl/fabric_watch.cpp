// SPDX-License-Identifier: BSD-3-Clause
// With `tributaryctl fabric watch`, the trees follow the file and the fabric.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "control/json.h"
#include "controller/standing_objections.h"
#include "fabric_seeds.h"
#include "fabric_steps.h"
#include "fabric_text.h"

namespace tributary::ctl {
namespace {

using controller::FabricFile;
using controller::SwitchChange;
using nlohmann::json;

using Jobs = std::set<std::uint32_t>;

// A Look is what one look at the fabric came to.
struct Look {
  std::vector<SwitchChange> changed;
  SeedChanges seeds;                  // those that switches were given
  std::vector<std::string> problems;  // of the file, of switches, of jobs
  std::vector<std::string> detours;   // of jobs that have found another way

  friend bool operator==(const Look& a, const Look& b) {
    return a.changed.empty() && b.changed.empty() && a.seeds.empty() && b.seeds.empty() &&
           a.problems == b.problems && a.detours == b.detours;
  }
};

// A change that a switch has refused is not tried at every look: each try takes back from the
// others what they had just got.
struct Refused {
  std::vector<SwitchChange> changes;
  std::string why;
  unsigned looks = 1;  // for which it waits
  unsigned left = 1;
};

class Watch {
 public:
  Watch(const Options& options, const FabricOptions& fabric, FabricFile file)
      : options_(options), fabric_(fabric), file_(std::move(file)) {}

  Look look() {
    Look look;
    read(look);
    LiveFabric live(file_, options_.timeout(), std::move(connections_));
    add_problems(live, look);
    const auto silent = silent_in(live);
    const bool settled = silent == silent_;  // a daemon that is restarted is back by the next look
    silent_ = silent;
    if (settled && live.faults().empty() && all_silent_are_gone(live)) {
      bring_about(live, look);
    }
    connections_ = live.release();
    return look;
  }

  const FabricFile& file() const { return file_; }

 private:
  // A file that is being written is read at the next look.
  void read(Look& look) {
    auto loaded = controller::load_fabric(fabric_.file);
    if (loaded) {
      file_ = std::move(*loaded);
    } else {
      look.problems.push_back(control::to_string(loaded.error()));
    }
  }

  std::set<std::string> silent_in(const LiveFabric& live) const {
    std::set<std::string> silent;
    for (std::size_t sw = 0; sw < file_.points.size(); ++sw) {
      if (live.silence(sw)) {
        silent.insert(name_of(file_, sw));
      }
    }
    return silent;
  }

  // Returns whether all switches that do not answer are gone. One that refuses, or says what is not
  // understood, is there.
  bool all_silent_are_gone(const LiveFabric& live) const {
    using Kind = control::CallError::Kind;
    for (std::size_t sw = 0; sw < file_.points.size(); ++sw) {
      const auto& error = live.silence(sw);
      if (error && error->kind != Kind::no_daemon && error->kind != Kind::timeout) {
        return false;
      }
    }
    return true;
  }

  void add_problems(const LiveFabric& live, Look& look) const {
    for (const std::string& text : silent_texts(file_, live)) {
      look.problems.push_back(text);
    }
    look.problems.insert(look.problems.end(), live.faults().begin(), live.faults().end());
  }

  // Returns the jobs that were taken out of the file and have ended: nobody sends through their
  // trees. A file that is being written may lack some, and a job that was gone for good may be
  // another controller's: so a job counts if it was there once, and was not at two looks.
  Jobs ended_jobs(const LiveFabric& live) {
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

  void bring_about(LiveFabric& live, Look& look) {
    auto seeds = give_seeds(file_, live);
    look.seeds = std::move(seeds.changes);
    look.problems.insert(look.problems.end(), seeds.problems.begin(), seeds.problems.end());
    const auto plan =
        controller::make_plan(file_, live, false, controller::Trees::keep_number,
                              objections_.at(controller::circumstances_of(file_, live)));
    objections_.note(plan.objections);
    for (const auto& error : errors_of(file_, plan.placement.refusals)) {
      look.problems.push_back(control::to_string(error));
    }
    look.detours = detour_texts(file_, plan);
    for (const auto job : ended_jobs(live)) {
      change(job, controller::changes_between(live.changeable(), {}, {job}), live, look);
    }
    const auto parts = plan.parts();
    for (std::size_t i = 0; i < file_.jobs.size(); ++i) {
      const auto& placed = plan.placement.jobs[i];
      if (placed.trees.empty()) {
        continue;  // it keeps what it has
      }
      if (change(placed.id, controller::changes_between(live.changeable(), parts, {placed.id}),
                 live, look)) {
        tell_workers(i, placed, look);
      }
      if (file_.jobs[i].trees != 0 && file_.jobs[i].trees != placed.trees.size()) {
        look.problems.push_back("job " + std::to_string(placed.id) +
                                " keeps its number of trees, " +
                                std::to_string(placed.trees.size()) +
                                ", while it is installed; `tributaryctl fabric apply` changes it, "
                                "between two runs of the job");
      }
    }
  }

  // Writes what workers set, if it is not what the file of the job has already.
  void tell_workers(std::size_t place, const controller::PlacedJob& placed, Look& look) {
    auto environment = controller::environment_of(file_, place, placed);
    auto& told = told_[placed.id];
    if (fabric_.env_directory.empty() || told == environment) {
      return;
    }
    if (const auto done = write_environment(placed.id, environment, fabric_.env_directory); !done) {
      look.problems.push_back(done.error());
      return;
    }
    told = std::move(environment);
  }

  // Changes each job by itself, so that one that a switch refuses does not hold up the others.
  // Returns whether the switches have what they are to have.
  bool change(std::uint32_t job, const std::vector<SwitchChange>& changes, LiveFabric& live,
              Look& look) {
    if (changes.empty()) {
      return true;
    }
    const auto known = refused_.find(job);
    const bool again = known != refused_.end() && known->second.changes == changes;
    if (again && --known->second.left != 0) {
      look.problems.push_back(known->second.why);
      return false;
    }
    if (const auto done = install_all(live, changes); !done) {
      const unsigned looks = again ? std::min(2 * known->second.looks, looks_max) : 1;
      refused_[job] = {changes, text_of(file_, done.error()), looks, looks};
      look.problems.push_back(refused_[job].why);
      return false;
    }
    refused_.erase(job);
    look.changed.insert(look.changed.end(), changes.begin(), changes.end());
    return true;
  }

  static constexpr unsigned looks_max = 60;

  const Options& options_;
  const FabricOptions& fabric_;
  FabricFile file_;
  controller::Connections connections_;
  controller::StandingObjections objections_;
  Jobs known_;                    // jobs of this file, and of what it was before
  Jobs gone_before_;              // those of them that were not in the file at the last look
  std::set<std::string> silent_;  // switches that did not answer at the last look
  std::map<std::uint32_t, Refused> refused_;
  std::map<std::uint32_t, control::Environment> told_;  // by job: what its file has
};

void print(const Options& options, const FabricFile& file, const Look& look) {
  if (options.json) {
    std::printf("%s\n",
                json({{"changes", to_json(file, look.changed)},
                      {"seeds", to_json(file, look.seeds)},
                      {"problems", look.problems},
                      {"detours", look.detours}})
                    .dump(-1, ' ', false, json::error_handler_t::replace)  // paths may be no UTF-8
                    .c_str());
  } else {
    for (const auto* texts : {&look.problems, &look.detours}) {
      for (const std::string& text : *texts) {
        std::printf("%s\n", text.c_str());
      }
    }
    if (!look.seeds.empty()) {
      std::printf("gave %s\n", text_of(file, look.seeds).c_str());
    }
    if (!look.changed.empty()) {
      std::printf("changed: %s\n", names_of(file, look.changed).c_str());
    } else if (look.problems.empty() && look.seeds.empty()) {
      std::printf("the switches have what the file asks for\n");
    }
  }
  std::fflush(stdout);
}

}  // namespace

ExitCode fabric_watch(const Options& options, const FabricOptions& fabric) {
  auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  Watch watch(options, fabric, std::move(*file));
  std::optional<Look> before;
  for (std::uint64_t tick = 0; fabric.count == 0 || tick < fabric.count; ++tick) {
    if (tick != 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(fabric.interval_s));
    }
    auto look = watch.look();
    if (!before || !(look == *before)) {
      print(options, watch.file(), look);
    }
    before = std::move(look);
  }
  return before->problems.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace tributary::ctl
