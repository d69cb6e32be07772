// SPDX-License-Identifier: BSD-3-Clause
#include "fabric.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "control/json.h"
#include "control/text.h"
#include "control/tree_json.h"
#include "fabric_live.h"
#include "fabric_text.h"
#include "placement/placement.h"

namespace tributary::ctl {
namespace {

using control::ConfigErrors;
using control::FabricFile;
using control::SwitchChange;
using nlohmann::json;
using placement::PlacedPart;

template <class T>
using Step = tl::expected<T, ExitCode>;  // the error was reported

Step<FabricFile> read_file(const Options& options, const FabricOptions& fabric) {
  auto loaded = control::load_fabric(fabric.file);
  if (!loaded) {
    return tl::unexpected(report(options, ExitCode::failed, "configuration",
                                 "the description of the fabric is wrong; nothing was changed",
                                 control::to_json(loaded.error())));
  }
  return std::move(*loaded);
}

const std::string& name_of(const FabricFile& file, std::size_t sw) {
  return file.topology.switches[sw].name;
}

json silent_switches(const FabricFile& file, const LiveFabric& live) {
  json list = json::array();
  for (std::size_t sw = 0; sw < file.points.size(); ++sw) {
    if (live.silence(sw)) {
      list.push_back({{"switch", name_of(file, sw)}, {"message", live.silence(sw)->message}});
    }
  }
  return list;
}

void print_silent(const FabricFile& file, const LiveFabric& live) {
  for (std::size_t sw = 0; sw < file.points.size(); ++sw) {
    if (live.silence(sw)) {
      std::fprintf(stderr, "tributaryctl: switch %s does not answer: %s\n",
                   name_of(file, sw).c_str(), live.silence(sw)->message.c_str());
    }
  }
}

// As the first one that is silent ends a single call; the message names them all.
ExitCode report_silent(const Options& options, const FabricFile& file, const LiveFabric& live) {
  std::string names;
  const control::CallError* first = nullptr;
  for (std::size_t sw = 0; sw < file.points.size(); ++sw) {
    if (live.silence(sw)) {
      first = first == nullptr ? &*live.silence(sw) : first;
      names +=
          (names.empty() ? "" : ", ") + name_of(file, sw) + " (" + live.silence(sw)->message + ")";
    }
  }
  control::CallError error = *first;
  error.message = "nothing was changed, as not all switches answer: " + names +
                  "; --skip-unreachable goes on without them";
  return report(options, error);
}

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

tl::expected<PlacedJobs, ConfigErrors> place_jobs(const FabricFile& file, const LiveFabric& live,
                                                  bool silent_usable) {
  auto placed =
      placement::place(live.topology(silent_usable), file.jobs, live.installed(), file.groups);
  if (placed) {
    return std::move(*placed);
  }
  ConfigErrors errors;
  for (const auto& refusal : placed.error()) {
    const auto job = std::find_if(file.jobs.begin(), file.jobs.end(),
                                  [&](const auto& each) { return each.id == refusal.job; });
    auto error = file.job_places[static_cast<std::size_t>(job - file.jobs.begin())];
    error.message = "job " + std::to_string(refusal.job) + ": " + refusal.message;
    error.hint = refusal.hint;
    errors.push_back(std::move(error));
  }
  return tl::unexpected(std::move(errors));
}

std::vector<PlacedPart> parts_of(const PlacedJobs& placed) {
  std::vector<PlacedPart> parts;
  for (const auto& job : placed) {
    for (const auto& tree : job.trees) {
      parts.insert(parts.end(), tree.parts.begin(), tree.parts.end());
    }
  }
  return parts;
}

std::vector<std::uint32_t> ids_of(const FabricFile& file) {
  std::vector<std::uint32_t> ids;
  for (const auto& job : file.jobs) {
    ids.push_back(job.id);
  }
  return ids;
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
  auto placed = place_jobs(file, live, false);
  if (!placed) {
    return tl::unexpected(report(options, ExitCode::failed, "refused",
                                 "not every job has a place; nothing was changed",
                                 control::to_json(placed.error())));
  }
  auto changes = control::changes_between(live.changeable(), parts_of(*placed), ids_of(file));
  return Plan{std::move(*placed), std::move(changes)};
}

json plan_json(const FabricFile& file, const LiveFabric& live, const Plan& plan) {
  return {{"jobs", to_json(file, plan.placed)},
          {"changes", to_json(file, plan.changes)},
          {"unreachable", silent_switches(file, live)}};
}

std::string names_of(const FabricFile& file, const std::vector<SwitchChange>& changes) {
  std::string names;
  for (const auto& change : changes) {
    names += (names.empty() ? "" : ", ") + name_of(file, change.switch_index);
  }
  return names;
}

ExitCode report_failure(const Options& options, const FabricFile& file,
                        const control::TransactionFailure& failure) {
  std::string message =
      "switch " + name_of(file, failure.switch_index) + " refused: " + failure.message + "; ";
  message += failure.changed ? "the others have what they had before" : "nothing was changed";
  json left = json::array();
  for (const auto& entry : failure.left) {
    message += "; " + name_of(file, entry.first) + " could not be brought back (" + entry.second +
               "): `tributaryctl fabric show` says what it has, once it answers";
    left.push_back({{"switch", name_of(file, entry.first)}, {"message", entry.second}});
  }
  return report(options, ExitCode::failed, "refused", message,
                left.empty() ? json(nullptr) : json{{"not_rolled_back", std::move(left)}});
}

Step<void> carry_out(const Options& options, const FabricFile& file, LiveFabric& live,
                     const std::vector<SwitchChange>& changes) {
  const auto done =
      control::carry_out(changes, [&](std::size_t sw, const auto& jobs, const auto& parts,
                                      bool check) { return live.install(sw, jobs, parts, check); });
  if (!done) {
    return tl::unexpected(report_failure(options, file, done.error()));
  }
  return {};
}

// What a switch should have, and has, of one tree.
struct ShownPart {
  std::size_t switch_index = 0;
  placement::TreePart part;
  std::string state;
};

// Parts of the file's jobs: those wanted, and those that are there besides.
std::vector<ShownPart> compare(const std::vector<PlacedPart>& wanted, const FabricFile& file,
                               const LiveFabric& live) {
  const auto ids = ids_of(file);
  const auto same_place = [](const PlacedPart& a, const PlacedPart& b) {
    return a.switch_index == b.switch_index && a.part.job == b.part.job &&
           a.part.tree == b.part.tree;
  };
  const auto find_in = [&](const std::vector<PlacedPart>& parts, const PlacedPart& part) {
    const auto at = std::find_if(parts.begin(), parts.end(),
                                 [&](const PlacedPart& other) { return same_place(other, part); });
    return at == parts.end() ? nullptr : &*at;
  };
  std::vector<ShownPart> shown;
  for (const PlacedPart& part : wanted) {
    const PlacedPart* const has = find_in(live.installed(), part);
    const char* state = "missing";
    if (live.silence(part.switch_index)) {
      state = "unknown";
    } else if (has != nullptr) {
      state = has->part == part.part ? "installed" : "different";
    }
    shown.push_back({part.switch_index, part.part, state});
  }
  for (const PlacedPart& part : live.installed()) {
    const bool ours = std::find(ids.begin(), ids.end(), part.part.job) != ids.end();
    if (!ours || find_in(wanted, part) == nullptr) {
      shown.push_back({part.switch_index, part.part, ours ? "surplus" : "of others"});
    }
  }
  std::stable_sort(shown.begin(), shown.end(), [](const ShownPart& a, const ShownPart& b) {
    return std::pair(a.part.job, a.part.tree) < std::pair(b.part.job, b.part.tree);
  });
  return shown;
}

bool agrees(const std::vector<ShownPart>& shown) {
  return std::all_of(shown.begin(), shown.end(), [](const ShownPart& part) {
    return part.state == "installed" || part.state == "of others";
  });
}

void print_shown(const FabricFile& file, const std::vector<ShownPart>& shown) {
  std::vector<Cells> rows;
  for (const ShownPart& each : shown) {
    std::string children;
    for (const std::string& child : each.part.children) {
      children += (children.empty() ? "" : ",") + child;
    }
    rows.push_back({std::to_string(each.part.job), std::to_string(each.part.tree),
                    control::to_string(each.part.group), name_of(file, each.switch_index), children,
                    each.part.parent.value_or("(root)"), each.state});
  }
  print_table(
      {{"JOB", true}, {"TREE", true}, {"GROUP"}, {"SWITCH"}, {"CHILDREN"}, {"PARENT"}, {"STATE"}},
      rows);
}

json shown_json(const FabricFile& file, const std::vector<ShownPart>& shown) {
  json rows = json::array();
  for (const ShownPart& each : shown) {
    json row = control::to_json(each.part);
    row["switch"] = name_of(file, each.switch_index);
    row["state"] = each.state;
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_errors(const ConfigErrors& errors) {
  for (const auto& error : errors) {
    std::fprintf(stderr, "%s\n", control::to_string(error).c_str());
  }
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

ExitCode fabric_show(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  const LiveFabric live(*file, options.timeout());
  const auto placed = place_jobs(*file, live, true);
  const auto shown = compare(placed ? parts_of(*placed) : std::vector<PlacedPart>{}, *file, live);
  const bool good = placed && agrees(shown) && live.faults().empty() && live.all_answer();
  if (options.json) {
    print_json({{"rows", shown_json(*file, shown)},
                {"agrees", good},
                {"unreachable", silent_switches(*file, live)},
                {"faults", live.faults()},
                {"refusals", placed ? json::array() : control::to_json(placed.error())}});
    return good ? ExitCode::ok : ExitCode::failed;
  }
  print_silent(*file, live);
  for (const std::string& fault : live.faults()) {
    std::fprintf(stderr, "%s: %s\n", file->name.c_str(), fault.c_str());
  }
  print_shown(*file, shown);
  if (!placed) {
    print_errors(placed.error());
  }
  std::printf("%s\n", good ? "the switches have what the file asks for"
                           : "the switches do not have what the file asks for; `tributaryctl "
                             "fabric apply` mends what can be mended");
  return good ? ExitCode::ok : ExitCode::failed;
}

ExitCode fabric_remove(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  LiveFabric live(*file, options.timeout());
  if (!live.all_answer() && !fabric.skip_unreachable) {
    return report_silent(options, *file, live);
  }
  const auto jobs = fabric.jobs.empty() ? ids_of(*file) : fabric.jobs;
  const auto changes = control::changes_between(live.changeable(), {}, jobs);
  if (const auto done = carry_out(options, *file, live, changes); !done) {
    return done.error();
  }
  if (options.json) {
    print_json(
        {{"changes", to_json(*file, changes)}, {"unreachable", silent_switches(*file, live)}});
    return ExitCode::ok;
  }
  print_silent(*file, live);
  if (changes.empty()) {
    std::printf("nothing to remove\n");
  } else {
    std::printf("removed from %s\n", names_of(*file, changes).c_str());
  }
  return ExitCode::ok;
}

}  // namespace tributary::ctl
