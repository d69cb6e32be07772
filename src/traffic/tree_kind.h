// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "traffic/block_kind.h"
#include "traffic/tree_places.h"

namespace tributary::traffic {

// A TreeKind has the options that kinds of aggregation over trees share, and what they mean.
class TreeKind : public BlockKind {
 protected:
  // Declares --workers, --first-job, --group, --jobs, --type, --op and --elements. The plan
  // outlives the app.
  void declare_trees(CLI::App& app, TreePlan& plan);
  // Declares the options of packets that are sent: --parent, --interleave and --block-timeout.
  void declare_loop(CLI::App& app, TreePlan& plan);

  // Interprets all of these, with --window. Every job has `trees` trees; `headers` bytes of headers
  // are behind that of Ethernet.
  void interpret_trees(Conditions& conditions, TreePlan& plan, std::uint32_t trees,
                       std::size_t headers) const;

  // Returns a table for each tree, for the configuration of a switch that is fed. `own` returns
  // what a protocol has beside what is the same for all, for the tree with that number in its job.
  static std::string settings_of_trees(const TreePlan& plan, const std::string& table,
                                       std::uint32_t trees,
                                       const std::function<std::string(std::uint32_t)>& own);

  static double lines_of_trees(const TreePlan& plan, std::size_t ports) {
    return lines_of(std::uint64_t{plan.jobs} * plan.workers, ports - (plan.parent ? 1 : 0));
  }

 private:
  void interpret_workers(TreePlan& plan, std::size_t ports) const;
  wire::Ipv4Address first_group(const TreePlan& plan, std::uint32_t trees) const;

  std::optional<std::uint16_t> workers_;
  std::string group_ = "239.192.0.1";
};

}  // namespace tributary::traffic
