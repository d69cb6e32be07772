// SPDX-License-Identifier: BSD-3-Clause
#include "controller/placement.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "controller/former.h"
#include "controller/groups.h"
#include "controller/obstacles.h"
#include "controller/parts.h"
#include "controller/spanning.h"

namespace tributary::controller {
namespace {

// Returns the switches that have a job's worker behind them, once each.
std::vector<std::size_t> terminals_of(const Topology& topology, const Job& job) {
  std::set<std::size_t> switches;
  for (const std::size_t host : job.hosts) {
    switches.insert(topology.hosts[host].at.switch_index);
  }
  return {switches.begin(), switches.end()};
}

// Returns for each link how many times as long as the fastest it takes for the same packets.
std::vector<std::size_t> costs_of(const std::vector<Link>& links) {
  std::uint64_t fastest = 0;
  for (const Link& link : links) {
    fastest = std::max(fastest, link.rate_bps);
  }
  std::vector<std::size_t> costs;
  for (const Link& link : links) {
    const auto rate = link.rate_bps == 0 ? fastest : link.rate_bps;
    costs.push_back(rate == 0 ? 1 : static_cast<std::size_t>((fastest + rate / 2) / rate));
  }
  return costs;
}

class Placement {
 public:
  Placement(const Topology& topology, const std::vector<Job>& jobs,
            const std::vector<PlacedPart>& installed, GroupRange range)
      : topology_(topology),
        installed_(installed),
        costs_(costs_of(topology.links)),
        groups_(range) {
    for (const std::size_t cost : costs_) {
      load_.links.push_back(cost - 1);
    }
    load_.switches.resize(topology.switches.size());
    std::set<std::uint32_t> ours;
    for (const Job& job : jobs) {
      ours.insert(job.id);
      engine_ = job.engine;
    }
    for (const PlacedPart& each : installed) {
      if (ours.contains(each.part.job)) {
        groups_.reserve(each.part.group);
      } else {
        groups_.refuse(each.part.group);
        count(each);
      }
    }
  }

  bool is_installed(const Job& job) const {
    return std::any_of(installed_.begin(), installed_.end(),
                       [&](const PlacedPart& each) { return each.part.job == job.id; });
  }

  tl::expected<PlacedJob, Refusal> place(const Job& job) {
    if (auto obstacle = obstacle_of(job)) {
      return tl::unexpected(std::move(*obstacle));
    }
    const auto terminals = terminals_of(topology_, job);
    const auto roots = graph_of(job).centres(terminals);
    if (roots.empty()) {
      return refuse(job, "no way joins all of its workers", unusable_text(job));
    }
    if (job.trees > roots.size() && job.trees_kept == 0) {
      return refuse(job,
                    std::to_string(job.trees) + " trees, but only " + std::to_string(roots.size()) +
                        " disjoint " + (roots.size() == 1 ? "root: " : "roots: ") + names(roots),
                    "at most trees = " + std::to_string(roots.size()) + unusable_text(job, "; "));
    }
    const auto load = load_;
    const auto groups = groups_;
    auto placed = place_trees(job, terminals, roots);
    if (!placed) {  // its first trees take nothing from other jobs
      load_ = load;
      groups_ = groups;
    }
    return placed;
  }

 private:
  // The smaller rank is better.
  using Rank = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t, std::size_t,
                          std::size_t, std::size_t>;
  struct Choice {
    Rank rank;
    std::size_t root = 0;
    Parents parents;
  };

  static tl::unexpected<Refusal> refuse(const Job& job, std::string message, std::string hint) {
    return tl::unexpected(Refusal{job.id, std::move(message), std::move(hint)});
  }

  void count(const PlacedPart& each) {
    if (each.part.engine == engine_) {  // other engines have memory of their own
      ++load_.switches[each.switch_index];
    }
    for (std::size_t i = 0; i < topology_.links.size(); ++i) {
      const Link& link = topology_.links[i];
      const auto above = [&](const SwitchPort& end) {
        return each.part.parent && leads(end, each.switch_index, *each.part.parent);
      };
      load_.links[i] += above(link.a) || above(link.b) ? costs_[i] : 0;
    }
  }

  bool has_room(std::size_t sw) const {
    return load_.switches[sw] < topology_.switches[sw].trees_max;
  }

  Graph graph_of(const Job& job) const {
    std::vector<bool> usable;
    for (std::size_t sw = 0; sw < topology_.switches.size(); ++sw) {
      usable.push_back(topology_.switches[sw].unusable.empty() && has_room(sw) &&
                       !job.refused_by.contains(sw));
    }
    return {topology_, usable};
  }

  std::string full_text(std::size_t sw) const {
    return "has no memory for another tree (at most " +
           std::to_string(topology_.switches[sw].trees_max) + ")";
  }

  std::string names(const std::vector<std::size_t>& switches) const {
    std::vector<std::string> names;
    for (const std::size_t sw : switches) {
      names.push_back(topology_.switches[sw].name);
    }
    return joined(names);
  }

  // Says what trees of the job have to go around.
  std::string unusable_text(const Job& job, const std::string& before = "") const {
    Topology now = topology_;
    for (const auto& [sw, why] : job.refused_by) {
      now.switches[sw].unusable = "refuses it: " + why;
    }
    for (std::size_t sw = 0; sw < now.switches.size(); ++sw) {
      if (now.switches[sw].unusable.empty() && !has_room(sw)) {
        now.switches[sw].unusable = full_text(sw);
      }
    }
    const auto reasons = obstacles(now);
    return reasons.empty() ? std::string() : before + joined(reasons);
  }

  // Says what is wrong with a job wherever its trees are.
  std::optional<Refusal> obstacle_of(const Job& job) const {
    std::map<std::pair<std::size_t, std::string>, std::string> ports;
    for (const std::size_t index : job.hosts) {
      const Host& host = topology_.hosts[index];
      const Switch& sw = topology_.switches[host.at.switch_index];
      const std::string place = sw.name + ":" + host.at.port;
      const auto [first, added] =
          ports.emplace(std::pair(host.at.switch_index, host.at.port), host.name);
      if (!added) {
        return Refusal{
            job.id,
            "workers " + first->second + " and " + host.name + " are behind one port, " + place,
            one_worker_a_port};
      }
      if (!sw.unusable.empty() || !host.unusable.empty()) {
        return Refusal{job.id, "worker " + host.name + " cannot be reached",
                       sw.unusable.empty() ? host.unusable : said_of({sw.name}, sw.unusable)};
      }
      if (!has_room(host.at.switch_index)) {
        return no_room(job, host.at.switch_index);
      }
      if (const auto at = job.refused_by.find(host.at.switch_index); at != job.refused_by.end()) {
        return Refusal{job.id, "switch " + sw.name + " refuses it", at->second};
      }
    }
    return std::nullopt;
  }

  Refusal no_room(const Job& job, std::size_t sw) const {
    return {job.id, said_of({topology_.switches[sw].name}, full_text(sw)),
            "raise " + std::string(job.limits.memory) + " in its [switch." + job.engine +
                "], or remove a job"};
  }

  tl::expected<PlacedJob, Refusal> place_trees(const Job& job,
                                               const std::vector<std::size_t>& terminals,
                                               std::vector<std::size_t> roots) {
    PlacedJob placed{job.id, {}};
    own_.assign(topology_.links.size(), 0);
    formers_ = formers_of(job, roots.size());
    const auto all_roots = roots;
    const std::size_t most = job.trees_kept != 0 ? job.trees_kept
                             : job.trees != 0    ? job.trees
                                                 : std::min(roots.size(), job.limits.trees_max);
    while (placed.trees.size() < most) {
      const std::size_t id = placed.trees.size();
      if (roots.empty()) {  // only for trees that are kept
        roots = all_roots;
      }
      auto choice = choose(job, id, terminals, roots);
      if (!choice) {
        if (job.trees == 0 && job.trees_kept == 0 && id > 0) {
          break;  // there are as many as there is room for
        }
        return refuse(job, "no room for tree " + std::to_string(id), unusable_text(job));
      }
      const auto group = job.limits.groups ? groups_.take(formers_[id].group())
                                           : std::optional(wire::Ipv4Address{});
      if (!group) {
        return refuse(job, "no multicast group is left", "give `groups` a shorter prefix");
      }
      Tree tree = make_tree(topology_, job, choice->parents, static_cast<std::uint16_t>(id),
                            choice->root, *group);
      if (auto crowded = crowded_part(job, tree)) {
        return tl::unexpected(std::move(*crowded));
      }
      account(tree, choice->parents);
      std::erase(roots, choice->root);
      placed.trees.push_back(std::move(tree));
    }
    return placed;
  }

  std::vector<Former> formers_of(const Job& job, std::size_t count) const {
    for (const PlacedPart& each : installed_) {
      if (each.part.job == job.id) {
        count = std::max<std::size_t>(count, each.part.tree + 1u);
      }
    }
    std::vector<Former> formers;
    for (std::size_t id = 0; id < count; ++id) {
      formers.emplace_back(topology_, installed_, job.id, id);
    }
    return formers;
  }

  std::optional<Refusal> crowded_part(const Job& job, const Tree& tree) const {
    for (const PlacedPart& each : tree.parts) {
      if (each.part.children.size() > control::tree_children_max) {
        return Refusal{
            job.id,
            "switch " + topology_.switches[each.switch_index].name + " would have " +
                std::to_string(each.part.children.size()) + " children in a tree",
            "at most " + std::to_string(control::tree_children_max) + ": spread the job's workers"};
      }
    }
    return std::nullopt;
  }

  void account(const Tree& tree, const Parents& parents) {
    for (const PlacedPart& each : tree.parts) {
      ++load_.switches[each.switch_index];
    }
    for (const auto& entry : parents) {
      load_.links[entry.second.link] += costs_[entry.second.link];
      ++own_[entry.second.link];
    }
  }

  // Returns the best of the roots that are left; none if no tree has room.
  std::optional<Choice> choose(const Job& job, std::size_t id,
                               const std::vector<std::size_t>& terminals,
                               const std::vector<std::size_t>& roots) const {
    const Graph graph = graph_of(job);
    std::optional<Choice> best;
    for (const std::size_t root : roots) {
      const auto distances = graph.distances(root);
      const bool reached = std::all_of(terminals.begin(), terminals.end(), [&](std::size_t sw) {
        return distances[sw] != unreachable;
      });
      if (!reached) {
        continue;
      }
      Choice choice{{}, root, span(graph, root, terminals, {load_, own_, formers_[id].parents()})};
      choice.rank = rank(id, distances, choice);
      if (!best || choice.rank < best->rank) {
        best = std::move(choice);
      }
    }
    return best;
  }

  Rank rank(std::size_t id, const std::vector<std::size_t>& distances, const Choice& choice) const {
    const std::size_t kept = formers_[id].kept(choice.root, distances);
    std::size_t wanted = 0;  // by the job's trees that come later
    for (std::size_t later = id + 1; later < formers_.size(); ++later) {
      wanted = std::max(wanted, formers_[later].kept(choice.root, distances));
    }
    std::size_t shared = 0;
    std::size_t most = 0;
    std::size_t sum = 0;
    for (const auto& entry : choice.parents) {
      const std::size_t link = entry.second.link;
      shared += own_[link];
      most = std::max(most, load_.links[link]);
      sum += load_.links[link];
    }
    return {installed_.size() - kept,    wanted,     shared, most, sum,
            load_.switches[choice.root], choice.root};
  }

  const Topology& topology_;
  const std::vector<PlacedPart>& installed_;
  std::vector<std::size_t> costs_;  // of a tree, by link
  std::string engine_;              // of all jobs
  Groups groups_;
  Load load_;
  // These are of the job that is being placed.
  std::vector<std::size_t> own_;  // its trees, by link
  std::vector<Former> formers_;   // by tree
};

}  // namespace

PartialPlacement place_what_fits(const Topology& topology, const std::vector<Job>& jobs,
                                 const std::vector<PlacedPart>& installed, GroupRange groups) {
  Placement placement(topology, jobs, installed, groups);
  PartialPlacement result;
  for (const Job& job : jobs) {
    result.jobs.push_back({job.id, {}});
  }
  // Jobs that are installed come first, and the others go around them.
  for (const bool installed_ones : {true, false}) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      if (placement.is_installed(jobs[i]) != installed_ones) {
        continue;
      }
      if (auto job = placement.place(jobs[i])) {
        result.jobs[i] = std::move(*job);
      } else {
        result.refusals.push_back(std::move(job.error()));
      }
    }
  }
  return result;
}

}  // namespace tributary::controller
