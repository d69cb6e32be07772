// SPDX-License-Identifier: BSD-3-Clause
#include "fabric.h"

#include <cstdio>

#include "control/json.h"
#include "controller/placement.h"
#include "fabric_steps.h"
#include "fabric_text.h"

namespace tributary::ctl {
namespace {

using control::ConfigErrors;
using control::FabricFile;
using control::SwitchChange;
using nlohmann::json;

// Whether the switches are what the file takes them for, and can be talked to.
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

// A placement and what has to be done for it.
struct Plan {
  PlacedJobs placed;
  std::vector<SwitchChange> changes;
};

Step<Plan> make_plan(const Options& options, const FabricOptions& fabric, const FabricFile& file,
                     const LiveFabric& live) {
  if (const auto ok = check_live(options, fabric, file, live); !ok) {
    return tl::unexpected(ok.error());
  }
  auto placed = controller::place(live.topology(false), file.jobs, live.installed(), file.groups);
  if (!placed) {
    return tl::unexpected(report(options, ExitCode::failed, "refused",
                                 "not every job has a place; nothing was changed",
                                 control::to_json(errors_of(file, placed.error()))));
  }
  auto changes = control::changes_between(live.changeable(), parts_of(*placed), ids_of(file));
  return Plan{std::move(*placed), std::move(changes)};
}

json plan_json(const FabricFile& file, const LiveFabric& live, const Plan& plan) {
  return {{"jobs", to_json(file, plan.placed)},
          {"changes", to_json(file, plan.changes)},
          {"unreachable", silent_switches(file, live)}};
}

}  // namespace

ExitCode fabric_plan(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  const LiveFabric live(*file, options.timeout());
  const auto plan = make_plan(options, fabric, *file, live);
  if (!plan) {
    return plan.error();
  }
  if (options.json) {
    print_json(plan_json(*file, live, *plan));
    return ExitCode::ok;
  }
  print_silent(*file, live);
  print_placement(*file, plan->placed);
  if (plan->changes.empty()) {
    std::printf("this is what the switches have\n");
  } else {
    std::printf("`tributaryctl fabric apply` changes %s\n", names_of(*file, plan->changes).c_str());
  }
  return ExitCode::ok;
}

ExitCode fabric_apply(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  LiveFabric live(*file, options.timeout());
  const auto plan = make_plan(options, fabric, *file, live);
  if (!plan) {
    return plan.error();
  }
  if (const auto done = carry_out(options, *file, live, plan->changes); !done) {
    return done.error();
  }
  if (!fabric.env_directory.empty()) {
    const auto written = write_environments(*file, plan->placed, fabric.env_directory);
    if (!written) {
      return report(options, ExitCode::failed, "failed",
                    "the trees are installed, but " + written.error());
    }
  }
  if (options.json) {
    print_json(plan_json(*file, live, *plan));
    return ExitCode::ok;
  }
  print_silent(*file, live);
  if (plan->changes.empty()) {
    std::printf("nothing to change\n");
  } else {
    std::printf("changed: %s\n", names_of(*file, plan->changes).c_str());
  }
  print_environments(*file, plan->placed);
  return ExitCode::ok;
}

}  // namespace tributary::ctl
