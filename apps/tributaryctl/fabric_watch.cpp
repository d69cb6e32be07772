// SPDX-License-Identifier: BSD-3-Clause
// `tributaryctl fabric watch`: the trees follow the file and the fabric.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "control/json.h"
#include "fabric_steps.h"
#include "fabric_text.h"

namespace tributary::ctl {
namespace {

using controller::FabricFile;
using controller::SwitchChange;
using nlohmann::json;

using Jobs = std::set<std::uint32_t>;

// What one look at the fabric came to.
struct Look {
  std::vector<SwitchChange> changed;
  std::vector<std::string> problems;  // of the file, of switches, of jobs

  friend bool operator==(const Look& a, const Look& b) {
    return a.changed.empty() && b.changed.empty() && a.problems == b.problems;
  }
};

class Watch {
 public:
  Watch(const Options& options, FabricFile file) : options_(options), file_(std::move(file)) {
    remember_jobs();
  }

  Look look(const std::string& path) {
    Look look;
    read(path, look);
    LiveFabric live(file_, options_.timeout());
    add_problems(live, look);
    // A daemon that is restarted is back by the next look; only then its switch is gone.
    if (const auto silent = silent_in(live); silent == silent_ && live.faults().empty()) {
      bring_about(live, look);
    } else {
      silent_ = silent;
    }
    return look;
  }

  const FabricFile& file() const { return file_; }

 private:
  // A file that is being written is read at the next look.
  void read(const std::string& path, Look& look) {
    auto loaded = controller::load_fabric(path);
    if (!loaded) {
      look.problems.push_back(control::to_string(loaded.error()));
      return;
    }
    file_ = std::move(*loaded);
    remember_jobs();
  }

  void remember_jobs() {
    for (const auto& job : file_.jobs) {
      known_.insert(job.id);
    }
  }

  Jobs silent_in(const LiveFabric& live) const {
    Jobs silent;
    for (std::size_t sw = 0; sw < file_.points.size(); ++sw) {
      if (live.silence(sw)) {
        silent.insert(static_cast<std::uint32_t>(sw));
      }
    }
    return silent;
  }

  void add_problems(const LiveFabric& live, Look& look) const {
    for (const auto& group : silent_texts(file_, live)) {
      look.problems.push_back(group);
    }
    look.problems.insert(look.problems.end(), live.faults().begin(), live.faults().end());
  }

  // Jobs that were taken out of the file have ended once nobody sends through their trees.
  std::vector<std::uint32_t> ended_jobs(const LiveFabric& live) const {
    Jobs ended = known_;
    for (const auto& job : file_.jobs) {
      ended.erase(job.id);
    }
    for (const auto& use : live.uses()) {
      ended.erase(use.job);
    }
    return {ended.begin(), ended.end()};
  }

  void bring_about(LiveFabric& live, Look& look) {
    const auto plan = controller::make_plan(file_, live, false, controller::Trees::keep_number);
    for (const auto& error : errors_of(file_, plan.placement.refusals)) {
      look.problems.push_back(control::to_string(error));
    }
    auto jobs = ended_jobs(live);
    for (const auto& job : plan.placement.jobs) {
      if (!job.trees.empty()) {  // those of the others stay where they are
        jobs.push_back(job.id);
      }
    }
    const auto changes = controller::changes_between(live.changeable(), plan.parts(), jobs);
    const auto done = install_all(live, changes);
    if (done) {
      look.changed = changes;
    } else {
      look.problems.push_back(text_of(file_, done.error()));
    }
  }

  const Options& options_;
  FabricFile file_;
  Jobs known_;   // jobs of this file, and of what it was before
  Jobs silent_;  // switches that did not answer at the last look
};

void print(const Options& options, const FabricFile& file, const Look& look) {
  if (options.json) {
    std::printf("%s\n",
                json({{"changes", to_json(file, look.changed)}, {"problems", look.problems}})
                    .dump()
                    .c_str());
  } else {
    for (const std::string& problem : look.problems) {
      std::printf("%s\n", problem.c_str());
    }
    if (!look.changed.empty()) {
      std::printf("changed: %s\n", names_of(file, look.changed).c_str());
    } else if (look.problems.empty()) {
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
  Watch watch(options, std::move(*file));
  std::optional<Look> before;
  for (std::uint64_t tick = 0; fabric.count == 0 || tick < fabric.count; ++tick) {
    if (tick != 0) {
      std::this_thread::sleep_for(std::chrono::duration<double>(fabric.interval_s));
    }
    auto look = watch.look(fabric.file);
    if (!before || !(look == *before)) {
      print(options, watch.file(), look);
    }
    before = std::move(look);
  }
  return before->problems.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace tributary::ctl
