// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdio>
#include <functional>
#include <utility>

#include "control/join.h"
#include "control/json.h"
#include "control/text.h"
#include "control/tree_json.h"
#include "controller/obstacles.h"
#include "fabric_steps.h"
#include "fabric_text.h"

namespace tributary::ctl {
namespace {

using controller::FabricFile;
using controller::PlacedPart;
using nlohmann::json;

// A ShownPart is what a switch should have, and has, of one tree.
struct ShownPart {
  std::size_t switch_index = 0;
  controller::TreePart part;
  std::string state;
};

const PlacedPart* find_in(const std::vector<PlacedPart>& parts, const PlacedPart& part) {
  const auto at = std::find_if(parts.begin(), parts.end(), [&](const PlacedPart& other) {
    return other.switch_index == part.switch_index && other.part.job == part.part.job &&
           other.part.tree == part.part.tree;
  });
  return at == parts.end() ? nullptr : &*at;
}

const char* state_of(const PlacedPart& wanted, const LiveFabric& live) {
  if (live.silence(wanted.switch_index)) {
    return "unknown";
  }
  const PlacedPart* const has = find_in(live.installed(), wanted);
  if (has == nullptr) {
    return "missing";
  }
  return has->part == wanted.part ? "installed" : "different";
}

// Returns the state of a part that is there and has not been planned.
const char* state_of(const PlacedPart& part, const FabricFile& file, const controller::Plan& plan) {
  const auto is_its = [&](const auto& each) { return each.id == part.part.job; };
  if (std::none_of(file.jobs.begin(), file.jobs.end(), is_its)) {
    return "of others";
  }
  const bool refused =
      std::any_of(plan.placement.refusals.begin(), plan.placement.refusals.end(),
                  [&](const auto& refusal) { return refusal.job == part.part.job; });
  return refused ? "no place" : "surplus";
}

// Returns the parts that are wanted, and those that are there besides.
std::vector<ShownPart> compare(const controller::Plan& plan, const FabricFile& file,
                               const LiveFabric& live) {
  const auto wanted = plan.parts();
  std::vector<ShownPart> shown;
  for (const PlacedPart& part : wanted) {
    shown.push_back({part.switch_index, part.part, state_of(part, live)});
  }
  for (const PlacedPart& part : live.installed()) {
    if (find_in(wanted, part) == nullptr) {
      shown.push_back({part.switch_index, part.part, state_of(part, file, plan)});
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
    rows.push_back({std::to_string(each.part.job), std::to_string(each.part.tree),
                    group_text(each.part.group), name_of(file, each.switch_index),
                    control::join(each.part.children, std::identity{}, ","),
                    each.part.parent.value_or(root_parent), each.state});
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

// A Comparison is what the file asks for, what is there, and how far they agree.
struct Comparison {
  controller::Plan plan;
  std::vector<ShownPart> shown;
  bool good = false;
};

Comparison compare_all(const FabricFile& file, LiveFabric& live) {
  Comparison all;
  all.plan = controller::make_plan(file, live, true);
  all.shown = compare(all.plan, file, live);
  all.good = all.plan.placement.refusals.empty() && agrees(all.shown) && live.faults().empty() &&
             live.all_answer();
  return all;
}

// Tells what `apply` would come to.
const char* verdict(const Comparison& all, const LiveFabric& live) {
  if (all.good) {
    return "the switches have what the file asks for";
  }
  if (!live.faults().empty()) {
    return "the fabric is not as the file describes it; `tributaryctl fabric apply` changes "
           "nothing before that is mended";
  }
  if (!all.plan.placement.refusals.empty()) {
    return "not every job of the file has a place; `tributaryctl fabric apply` changes nothing "
           "before that is mended";
  }
  return "the switches do not have what the file asks for; `tributaryctl fabric apply` mends what "
         "can be mended";
}

void print_for_people(const FabricFile& file, const LiveFabric& live, const Comparison& all) {
  warn(silent_texts(file, live));
  for (const std::string& fault : live.faults()) {
    std::fprintf(stderr, "%s: %s\n", file.name.c_str(), fault.c_str());
  }
  print_shown(file, all.shown);
  std::fflush(stdout);  // the reasons stand below the table that they explain
  for (const auto& error : errors_of(file, all.plan.placement.refusals)) {
    std::fprintf(stderr, "%s\n", control::to_string(error).c_str());
  }
  if (!all.good && all.plan.placement.refusals.empty()) {  // refusals name them
    for (const std::string& obstacle : all.plan.obstacles) {
      std::fprintf(stderr, "trees go around it: %s\n", obstacle.c_str());
    }
  }
  warn(detour_texts(file, all.plan));
  warn(controller::seed_faults(file.topology, live.seeds()));
  std::printf("%s\n", verdict(all, live));
}

}  // namespace

ExitCode fabric_show(const Options& options, const FabricOptions& fabric) {
  const auto file = read_file(options, fabric);
  if (!file) {
    return file.error();
  }
  LiveFabric live(*file, options.timeout());
  const Comparison all = compare_all(*file, live);
  if (options.json) {
    print_json({{"rows", shown_json(*file, all.shown)},
                {"agrees", all.good},
                {"unreachable", silent_switches(*file, live)},
                {"faults", live.faults()},
                {"obstacles", all.plan.obstacles},
                {"detours", detours_json(*file, all.plan)},
                {"seed_problems", controller::seed_faults(file->topology, live.seeds())},
                {"refusals", control::to_json(errors_of(*file, all.plan.placement.refusals))}});
  } else {
    print_for_people(*file, live, all);
  }
  return all.good ? ExitCode::ok : ExitCode::failed;
}

}  // namespace tributary::ctl
