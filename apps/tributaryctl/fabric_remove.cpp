// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <set>

#include "fabric_steps.h"
#include "fabric_text.h"
#include "in_use.h"

namespace tributary::ctl {
namespace {

using controller::FabricFile;
using nlohmann::json;

bool is_among(const std::vector<std::uint32_t>& jobs, std::uint32_t job) {
  return std::find(jobs.begin(), jobs.end(), job) != jobs.end();
}

std::set<std::uint32_t> known_jobs(const FabricFile& file, const LiveFabric& live) {
  const auto ids = ids_of(file);
  std::set<std::uint32_t> known(ids.begin(), ids.end());
  for (const auto& each : live.changeable()) {
    known.insert(each.part.job);
  }
  return known;
}

std::string text_of_unknown(std::uint32_t job, const FabricFile& file, const LiveFabric& live) {
  const std::string name = "job " + std::to_string(job);
  for (const auto& each : live.installed()) {
    if (each.part.job == job) {
      return name + " is in the configuration of switch " + name_of(file, each.switch_index) +
             "; take it out there";
    }
  }
  return "there is no " + name + " in " + file.name + " or on " +
         (live.all_answer() ? "its switches" : "those of its switches that answer") +
         "; there are " + joined(known_jobs(file, live));
}

// Checks whether the file or a switch knows the jobs that were named.
Step<void> check_jobs(const Options& options, const FabricOptions& fabric, const FabricFile& file,
                      const LiveFabric& live) {
  const auto known = known_jobs(file, live);
  for (const std::uint32_t job : fabric.jobs) {
    if (!known.contains(job)) {
      return tl::unexpected(report(options, ExitCode::failed, "no_job",
                                   text_of_unknown(job, file, live), {{"known_jobs", known}}));
    }
  }
  return {};
}

// Returns those trees of these jobs that workers send through now.
std::vector<controller::TreeUse> uses_of(const LiveFabric& live,
                                         const std::vector<std::uint32_t>& jobs) {
  std::vector<controller::TreeUse> uses;
  std::copy_if(live.uses().begin(), live.uses().end(), std::back_inserter(uses),
               [&](const controller::TreeUse& use) { return is_among(jobs, use.job); });
  return uses;
}

}  // namespace

ExitCode fabric_remove(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  LiveFabric live(*file, options.timeout());
  if (!live.all_answer() && !fabric.skip_unreachable) {
    return report_silent(options, *file, live);
  }
  if (const auto known = check_jobs(options, fabric, *file, live); !known) {
    return known.error();
  }
  auto jobs = fabric.jobs.empty() ? ids_of(*file) : fabric.jobs;
  std::sort(jobs.begin(), jobs.end());
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  if (const auto uses = uses_of(live, jobs); !uses.empty() && !fabric.force) {
    return report_in_use(options, uses);
  }
  const auto changes = controller::changes_between(live.changeable(), {}, jobs);
  if (const auto done = carry_out(options, *file, live, changes); !done) {
    return done.error();
  }
  if (options.json) {
    print_json(
        {{"changes", to_json(*file, changes)}, {"unreachable", silent_switches(*file, live)}});
    return ExitCode::ok;
  }
  warn(silent_texts(*file, live));
  if (changes.empty()) {
    std::printf("nothing to remove\n");
  } else {
    std::printf("removed from %s\n", names_of(*file, changes).c_str());
  }
  return ExitCode::ok;
}

}  // namespace tributary::ctl
