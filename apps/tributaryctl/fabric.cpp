// SPDX-License-Identifier: BSD-3-Clause
#include "fabric.h"

#include <cstdio>

#include "control/json.h"
#include "fabric_steps.h"
#include "fabric_text.h"

namespace tributary::ctl {
namespace {

using control::ConfigErrors;
using controller::FabricFile;
using controller::SwitchChange;
using nlohmann::json;

// Checks whether the switches are what the file takes them for, and can be talked to.
Step<void> check_live(const Options& options, const FabricOptions& fabric, const FabricFile& file,
                      const LiveFabric& live) {
  if (!live.all_answer() && !fabric.skip_unreachable) {
    return tl::unexpected(report_silent(options, file, live));
  }
  if (!live.faults().empty()) {
    ConfigErrors errors;
    for (const std::string& fault : live.faults()) {
      errors.push_back({file.name, 0, 0, fault, ""});
    }
    return tl::unexpected(report(options, ExitCode::failed, "configuration",
                                 "the fabric is not as described; nothing was changed",
                                 control::to_json(errors)));
  }
  return {};
}

// Steps are the places of trees and what has to be done for them.
struct Steps {
  controller::Plan plan;
  std::vector<SwitchChange> changes;
};

Step<Steps> make_steps(const Options& options, const FabricOptions& fabric, const FabricFile& file,
                       LiveFabric& live) {
  if (const auto ok = check_live(options, fabric, file, live); !ok) {
    return tl::unexpected(ok.error());
  }
  auto plan = controller::make_plan(file, live, false);
  if (!plan.complete()) {
    return tl::unexpected(report(options, ExitCode::failed, "refused",
                                 "not every job has a place; nothing was changed",
                                 control::to_json(errors_of(file, plan.placement.refusals))));
  }
  auto changes = controller::changes_between(live.changeable(), plan.parts(), ids_of(file));
  return Steps{std::move(plan), std::move(changes)};
}

json plan_json(const FabricFile& file, const LiveFabric& live, const Steps& steps,
               const controller::SeedSteps& seeds) {
  return {{"jobs", to_json(file, steps.plan.placement.jobs)},
          {"changes", to_json(file, steps.changes)},
          {"seeds", to_json(file, seeds.changes)},
          {"seed_problems", seeds.problems},
          {"detours", detours_json(file, steps.plan)},
          {"unreachable", silent_switches(file, live)}};
}

}  // namespace

ExitCode fabric_plan(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  LiveFabric live(*file, options.timeout());
  const auto steps = make_steps(options, fabric, *file, live);
  if (!steps) {
    return steps.error();
  }
  const auto seeds = controller::plan_seeds(file->topology, live.seeds());
  if (options.json) {
    print_json(plan_json(*file, live, *steps, seeds));
    return ExitCode::ok;
  }
  warn(silent_texts(*file, live));
  warn(detour_texts(*file, steps->plan));
  warn(seeds.problems);
  print_placement(*file, steps->plan.placement.jobs);
  if (!steps->changes.empty()) {
    std::printf("`tributaryctl fabric apply` changes %s\n",
                names_of(*file, steps->changes).c_str());
  } else if (seeds.changes.empty()) {
    std::printf("this is what the switches have\n");
  }
  if (!seeds.changes.empty()) {
    std::printf("`tributaryctl fabric apply` gives %s\n", text_of(*file, seeds.changes).c_str());
  }
  return ExitCode::ok;
}

ExitCode fabric_apply(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  LiveFabric live(*file, options.timeout());
  const auto steps = make_steps(options, fabric, *file, live);
  if (!steps) {
    return steps.error();
  }
  if (const auto done = carry_out(options, *file, live, steps->changes); !done) {
    return done.error();
  }
  const auto seeds = live.give_seeds();
  // The trees are there, but blocks of a level do not meet where only some of its switches have it.
  const auto code = seeds.refused ? ExitCode::failed : ExitCode::ok;
  if (!fabric.env_directory.empty()) {
    const auto written =
        write_environments(*file, steps->plan.placement.jobs, fabric.env_directory);
    if (!written) {
      return report(options, ExitCode::failed, "failed",
                    "the trees are installed, but " + written.error());
    }
  }
  if (options.json) {
    print_json(plan_json(*file, live, *steps, seeds));
    return code;
  }
  warn(silent_texts(*file, live));
  warn(detour_texts(*file, steps->plan));
  warn(seeds.problems);
  if (!steps->changes.empty()) {
    std::printf("changed: %s\n", names_of(*file, steps->changes).c_str());
  } else if (seeds.changes.empty()) {
    std::printf("nothing to change\n");
  }
  if (!seeds.changes.empty()) {
    std::printf("gave %s\n", text_of(*file, seeds.changes).c_str());
  }
  print_environments(*file, steps->plan.placement.jobs);
  return code;
}

}  // namespace tributary::ctl
