// SPDX-License-Identifier: BSD-3-Clause
#include "tree_check.h"

#include <algorithm>
#include <map>
#include <set>

namespace tributary::controller {
namespace {

using End = std::pair<std::size_t, std::string>;

// The ends of cables: another switch's port, or a host.
struct Cables {
  explicit Cables(const Topology& topology) {
    for (std::size_t i = 0; i < topology.links.size(); ++i) {
      const auto& link = topology.links[i];
      const End a{link.a.switch_index, link.a.port};
      const End b{link.b.switch_index, link.b.port};
      far[a] = b;
      far[b] = a;
      link_of[a] = link_of[b] = i;
    }
    for (std::size_t i = 0; i < topology.hosts.size(); ++i) {
      hosts[{topology.hosts[i].at.switch_index, topology.hosts[i].at.port}].insert(i);
    }
  }
  std::map<End, End> far;
  std::map<End, std::size_t> link_of;
  std::map<End, std::set<std::size_t>> hosts;
};

class Walk {
 public:
  Walk(const Topology& topology, const Job& job, const Tree& tree)
      : topology_(topology), cables_(topology), job_(job), tree_(tree) {}

  std::string run() {
    for (const PlacedPart& each : tree_.parts) {
      if (!parts_.emplace(each.switch_index, &each.part).second) {
        return "two parts on one switch";
      }
      if (each.part.job != job_.id || each.part.tree != tree_.id ||
          each.part.group != tree_.group || each.part.workers != job_.hosts.size() ||
          each.part.quorum != job_.quorum) {
        return "a part is of something else";
      }
    }
    const auto root = parts_.find(tree_.root);
    if (root == parts_.end() || root->second->parent) {
      return "the root has a parent, or no part";
    }
    const auto below = descend(tree_.root);
    if (!defect_.empty()) {
      return defect_;
    }
    if (visited_.size() != parts_.size()) {
      return "a part is not under the root";
    }
    const std::multiset<std::size_t> wanted(job_.hosts.begin(), job_.hosts.end());
    return wanted == below ? "" : "the leaves are not the workers";
  }

 private:
  std::multiset<std::size_t> descend(std::size_t sw) {
    std::multiset<std::size_t> workers;
    if (!visited_.insert(sw).second || !topology_.switches[sw].unusable.empty()) {
      defect_ = "a loop, or a switch that cannot be used";
      return workers;
    }
    const TreePart& part = *parts_.at(sw);
    std::set<std::string> ports;
    for (const std::string& port : part.children) {
      const auto found = child(sw, port);
      workers.insert(found.begin(), found.end());
      if (!ports.insert(port).second || part.parent == port) {
        defect_ = "a port is in a tree twice";
      }
      if (!defect_.empty()) {
        return workers;
      }
    }
    if (workers.size() != part.workers_below || part.children.empty()) {
      defect_ = "workers_below does not sum up";
    }
    return workers;
  }

  std::multiset<std::size_t> child(std::size_t sw, const std::string& port) {
    const End end{sw, port};
    if (cables_.hosts.contains(end)) {
      std::multiset<std::size_t> found;
      for (const std::size_t host : job_.hosts) {
        if (cables_.hosts.at(end).contains(host)) {
          found.insert(host);
        }
      }
      return found;
    }
    const auto far = cables_.far.find(end);
    if (far == cables_.far.end() || !topology_.links[cables_.link_of.at(end)].unusable.empty()) {
      defect_ = "a child is behind no link";
      return {};
    }
    const auto below = parts_.find(far->second.first);
    if (below == parts_.end() || below->second->parent != far->second.second) {
      defect_ = "the two ends of a link disagree";
      return {};
    }
    return descend(far->second.first);
  }

  const Topology& topology_;
  Cables cables_;
  const Job& job_;
  const Tree& tree_;
  std::map<std::size_t, const TreePart*> parts_;
  std::set<std::size_t> visited_;
  std::string defect_;
};

}  // namespace

std::string defect(const Topology& topology, const Job& job, const Tree& tree) {
  return Walk(topology, job, tree).run();
}

std::vector<std::size_t> links_of(const Topology& topology, const Tree& tree) {
  const Cables cables(topology);
  std::vector<std::size_t> links;
  for (const PlacedPart& each : tree.parts) {
    if (each.part.parent) {
      links.push_back(cables.link_of.at({each.switch_index, *each.part.parent}));
    }
  }
  std::sort(links.begin(), links.end());
  return links;
}

}  // namespace tributary::controller
