// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "controller/topology.h"

namespace tributary::controller {

// An Edge is a link as seen from one of its ends.
struct Edge {
  std::size_t link = 0;
  std::size_t to = 0;
  const std::string* port = nullptr;      // at this end
  const std::string* far_port = nullptr;  // at the other end
};

inline constexpr std::size_t unreachable = std::numeric_limits<std::size_t>::max();

// A Graph is the part of a topology that trees may use.
class Graph {
 public:
  // Switches of which `usable` is false are left out.
  Graph(const Topology& topology, const std::vector<bool>& usable);

  std::size_t size() const { return edges_.size(); }
  bool usable(std::size_t sw) const { return usable_[sw]; }
  const std::vector<Edge>& edges(std::size_t sw) const { return edges_[sw]; }
  // Returns how many links are between `from` and every switch.
  std::vector<std::size_t> distances(std::size_t from) const;
  // Returns the switches from which the farthest of `terminals` is the nearest: a tree has its root
  // there. In a folded Clos these are the lowest switches that all terminals have above them.
  std::vector<std::size_t> centres(const std::vector<std::size_t>& terminals) const;

 private:
  std::vector<bool> usable_;
  std::vector<std::vector<Edge>> edges_;
};

// A Load says how much there is already.
struct Load {
  // One more tree would come to so much, less one: on a link of half the rate a tree counts twice.
  std::vector<std::size_t> links;
  std::vector<std::size_t> switches;
};

// These bear upon the choice among shortest ways.
struct Preferences {
  const Load& all;                             // of all jobs: the least loaded is chosen
  const std::vector<std::size_t>& own;         // by link, of this job's other trees: avoided first
  std::map<std::size_t, std::string> parents;  // port towards the root to be kept, by switch
};

// In a tree of shortest ways, each of its switches but the root has the edge to its parent.
using Parents = std::map<std::size_t, Edge>;

// The root has to be within reach of all terminals.
Parents span(const Graph& graph, std::size_t root, const std::vector<std::size_t>& terminals,
             const Preferences& preferences);

}  // namespace tributary::controller
