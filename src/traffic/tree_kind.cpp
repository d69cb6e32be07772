// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/tree_kind.h"

#include <limits>
#include <vector>

#include <CLI/CLI.hpp>

#include "control/text.h"
#include "traffic/option_text.h"
#include "traffic/ranks.h"

namespace tributary::traffic {
namespace {

constexpr std::uint32_t workers_in_files = 8;

// Makes a port for each worker; their addresses follow one another from those of `first` on.
std::vector<StationRange> ports_of_files(const StationRange& first, std::uint32_t workers) {
  const Stations stations({first});
  std::vector<StationRange> ports(workers, first);
  for (std::uint32_t port = 0; port < workers; ++port) {
    ports[port].mac = stations.mac(0, port);
    ports[port].address = stations.address(0, port);
  }
  return ports;
}

}  // namespace

void TreeKind::declare_trees(CLI::App& app, TreePlan& plan) {
  app.add_option("--workers", workers_,
                 "workers of each job, each at another port (by pcap 8, each with another file)")
      ->check(CLI::Range(1u, Ranks::ranks_max))
      ->default_str("one at every port");
  app.add_option("--first-job", plan.first_job, "number of the first job; others count up")
      ->check(CLI::Range(1u, std::numeric_limits<std::uint32_t>::max()))
      ->capture_default_str();
  app.add_option("--group", group_,
                 "multicast address of the first job's first tree; other trees and jobs count up")
      ->capture_default_str();
  declare_jobs(app, plan);
  declare_elements(app, plan.elements);
}

void TreeKind::declare_loop(CLI::App& app, TreePlan& plan) {
  app.add_option("--parent", plan.parent,
                 "number of the port at which the root is played, the first being 0")
      ->default_str("the switch is the root");
  declare_interleave(app, plan);
  declare_block_timeout(app);
}

void TreeKind::interpret_trees(Conditions& conditions, TreePlan& plan, std::uint32_t trees,
                               std::size_t headers) const {
  if (conditions.mode == Mode::pcap) {
    conditions.stations =
        ports_of_files(conditions.stations.front(), workers_.value_or(workers_in_files));
  }
  interpret_workers(plan, conditions.stations.size());
  interpret_block_timeout(plan);
  interpret_jobs(plan);
  require_room(plan, plan.elements, headers + conditions.growth(), conditions.mtu);
  require_blocks("--window", conditions.mode, std::uint64_t{plan.jobs} * trees * plan.window);
  if (plan.jobs - 1 > std::numeric_limits<std::uint32_t>::max() - plan.first_job) {
    refuse("--first-job",
           "there are not so many jobs from " + std::to_string(plan.first_job) + " on");
  }
  plan.group = first_group(plan, trees);
}

void TreeKind::interpret_workers(TreePlan& plan, std::size_t ports) const {
  if (plan.parent && *plan.parent >= ports) {
    refuse("--parent", "there are " + std::to_string(ports) + " ports; the first is 0");
  }
  const auto places = ports - (plan.parent ? 1 : 0);
  plan.workers = workers_.value_or(static_cast<std::uint16_t>(places));
  if (plan.workers > places || plan.workers == 0) {
    refuse("--workers", "each worker of a job has a port of its own; there are " +
                            std::to_string(places) + " for them");
  }
}

wire::Ipv4Address TreeKind::first_group(const TreePlan& plan, std::uint32_t trees) const {
  const auto group = value_of("--group", control::parse_group(group_));
  const wire::Ipv4Address last(group.value() + plan.jobs * trees - 1);
  if (!last.is_multicast()) {
    refuse("--group", "not all groups after " + group_ +
                          " are multicast addresses; say for example 239.192.0.1");
  }
  return group;
}

std::string TreeKind::settings_of_trees(const TreePlan& plan, const std::string& table,
                                        std::uint32_t trees,
                                        const std::function<std::string(std::uint32_t)>& own) {
  std::string children;
  for (std::size_t port = 0; port < plan.workers; ++port) {
    children += (port == 0 ? "\"feed" : ", \"feed") + std::to_string(port) + '"';
  }
  const auto workers = std::to_string(plan.workers);
  const auto places =
      "children = [" + children + "]\nworkers = " + workers + "\nworkers_below = " + workers + "\n";
  std::string text = "# Trees for the switch's configuration:\n";
  for (std::uint32_t i = 0; i < plan.jobs * trees; ++i) {
    text += "[[" + table + "]]\njob = " + std::to_string(plan.first_job + i / trees) + "\n" +
            own(i % trees) + "group = \"" +
            control::to_string(wire::Ipv4Address(plan.group.value() + i)) + "\"\n" + places;
  }
  return text;
}

}  // namespace tributary::traffic
