// SPDX-License-Identifier: BSD-3-Clause
#include "fabric_text.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <system_error>

#include "control/join.h"
#include "control/text.h"
#include "control/tree_json.h"
#include "output.h"

namespace tributary::ctl {

using controller::environment_of;
using controller::FabricFile;
using controller::PlacedJob;
using nlohmann::json;

namespace {

// A directory whose name was mistyped is not to appear in silence.
tl::expected<void, std::string> make_directory(const std::string& directory) {
  std::error_code error;
  if (std::filesystem::is_directory(directory, error)) {
    return {};
  }
  std::filesystem::create_directories(directory, error);
  if (error) {
    return tl::unexpected("cannot make the directory " + directory + ": " + error.message());
  }
  std::fprintf(stderr, "tributaryctl: made the directory %s\n", directory.c_str());
  return {};
}

}  // namespace

std::string group_text(wire::Ipv4Address group) {
  return group.is_unspecified() ? "-" : control::to_string(group);
}

void print_placement(const FabricFile& fabric, const PlacedJobs& placed) {
  std::vector<Cells> rows;
  for (const PlacedJob& job : placed) {
    for (const auto& tree : job.trees) {
      for (const auto& each : tree.parts) {
        const auto& part = each.part;
        rows.push_back({std::to_string(part.job), std::to_string(part.tree), group_text(part.group),
                        fabric.topology.switches[each.switch_index].name,
                        control::join(part.children, std::identity{}, ","),
                        part.parent.value_or(root_parent), std::to_string(part.workers_below),
                        std::to_string(part.quorum) + " of " + std::to_string(part.workers)});
      }
    }
  }
  print_table({{"JOB", true},
               {"TREE", true},
               {"GROUP"},
               {"SWITCH"},
               {"CHILDREN"},
               {"PARENT"},
               {"WORKERS-BELOW", true},
               {"QUORUM", true}},
              rows);
}

void print_environments(const FabricFile& fabric, const PlacedJobs& placed) {
  for (std::size_t i = 0; i < placed.size(); ++i) {
    std::printf("job %u:", placed[i].id);
    for (const auto& [name, value] : environment_of(fabric, i, placed[i])) {
      std::printf(" %s=%s", name.c_str(), value.c_str());
    }
    std::printf("\n");
  }
}

json to_json(const FabricFile& fabric, const PlacedJobs& placed) {
  json jobs = json::array();
  for (std::size_t i = 0; i < placed.size(); ++i) {
    json environment = json::object();
    for (const auto& [name, value] : environment_of(fabric, i, placed[i])) {
      environment[name] = value;
    }
    json trees = json::array();
    for (const auto& tree : placed[i].trees) {
      json switches = json::array();
      for (const auto& each : tree.parts) {
        json part = control::to_json(each.part);
        part["switch"] = fabric.topology.switches[each.switch_index].name;
        switches.push_back(std::move(part));
      }
      trees.push_back(
          {{"tree", tree.id},
           {"group",
            tree.group.is_unspecified() ? json(nullptr) : json(control::to_string(tree.group))},
           {"root", fabric.topology.switches[tree.root].name},
           {"switches", std::move(switches)}});
    }
    jobs.push_back({{"job", placed[i].id},
                    {"workers", fabric.jobs[i].hosts.size()},
                    {"quorum", fabric.jobs[i].quorum},
                    {"environment", std::move(environment)},
                    {"trees", std::move(trees)}});
  }
  return jobs;
}

json to_json(const FabricFile& fabric, const std::vector<controller::SwitchChange>& changes) {
  json list = json::array();
  for (const auto& change : changes) {
    list.push_back({{"switch", fabric.topology.switches[change.switch_index].name},
                    {"jobs", change.jobs},
                    {"trees_before_total", change.before.size()},
                    {"trees_after_total", change.after.size()}});
  }
  return list;
}

json to_json(const FabricFile& fabric, const SeedChanges& changes) {
  json list = json::array();
  for (const auto& change : changes) {
    list.push_back({{"switch", fabric.topology.switches[change.switch_index].name},
                    {"reduction_seed", change.seed}});
  }
  return list;
}

std::string text_of(const FabricFile& fabric, const SeedChanges& changes) {
  std::map<std::uint64_t, std::vector<std::string>> switches_of;
  for (const auto& change : changes) {
    switches_of[change.seed].push_back(fabric.topology.switches[change.switch_index].name);
  }
  std::string text;
  for (const auto& entry : switches_of) {
    text += (text.empty() ? "reduction_seed " : "; ") + std::to_string(entry.first) + " to " +
            control::join(entry.second);
  }
  return text;
}

tl::expected<void, std::string> write_environment(std::uint32_t job,
                                                  const control::Environment& environment,
                                                  const std::string& directory) {
  if (auto made = make_directory(directory); !made) {
    return made;
  }
  const std::string path = directory + "/job-" + std::to_string(job) + ".env";
  const std::string fresh = path + ".new";  // a full disk leaves the old one
  std::ofstream file(fresh, std::ios::trunc);
  for (const auto& [name, value] : environment) {
    file << name << "=" << value << "\n";
  }
  file.close();
  if (!file || std::rename(fresh.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::error_code error;
    std::filesystem::remove(fresh, error);
    return tl::unexpected(path + ": " + why);
  }
  return {};
}

tl::expected<void, std::string> write_environments(const FabricFile& fabric,
                                                   const PlacedJobs& placed,
                                                   const std::string& directory) {
  for (std::size_t i = 0; i < placed.size(); ++i) {
    const auto written =
        write_environment(placed[i].id, environment_of(fabric, i, placed[i]), directory);
    if (!written) {
      return written;
    }
  }
  return {};
}

}  // namespace tributary::ctl
