// SPDX-License-Identifier: BSD-3-Clause
#include "controller/spanning.h"

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

namespace tributary::controller {
namespace {

// Chooses the ways of the switches at one distance from the root, to those one link nearer.
class Layer {
 public:
  Layer(const Graph& graph, const std::vector<std::size_t>& distances, std::size_t root,
        const Preferences& preferences)
      : graph_(graph), distances_(distances), root_(root), preferences_(preferences) {}

  // `above` are switches of the tree one link nearer to the root; parents that are chosen join it.
  void choose(const std::set<std::size_t>& below, std::set<std::size_t>& above, Parents& out) {
    std::set<std::size_t> waiting;
    for (const std::size_t sw : below) {
      if (const Edge* const kept = kept_edge(sw)) {
        out[sw] = *kept;
        above.insert(kept->to);
      } else {
        waiting.insert(sw);
      }
    }
    while (!waiting.empty()) {
      take_best(waiting, above, out);
    }
  }

 private:
  // Fewer links come first, as sums meet early; then the least loaded; then the order of the file.
  using Rank = std::tuple<bool, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>;

  bool nearer(std::size_t sw, const Edge& edge) const {
    return distances_[edge.to] + 1 == distances_[sw];
  }

  const Edge* kept_edge(std::size_t sw) const {
    const auto kept = preferences_.parents.find(sw);
    if (kept == preferences_.parents.end()) {
      return nullptr;
    }
    for (const Edge& edge : graph_.edges(sw)) {
      if (nearer(sw, edge) && *edge.port == kept->second) {
        return &edge;
      }
    }
    return nullptr;
  }

  // Returns, of the ways that the job's other trees use least, the one to `parent`; null if there
  // is none.
  const Edge* edge_to(std::size_t sw, std::size_t parent) const {
    std::size_t least = unreachable;
    for (const Edge& edge : graph_.edges(sw)) {
      if (nearer(sw, edge)) {
        least = std::min(least, preferences_.own[edge.link]);
      }
    }
    const Edge* best = nullptr;
    for (const Edge& edge : graph_.edges(sw)) {
      const bool fits =
          nearer(sw, edge) && edge.to == parent && preferences_.own[edge.link] == least;
      if (fits && (best == nullptr ||
                   preferences_.all.links[edge.link] < preferences_.all.links[best->link])) {
        best = &edge;
      }
    }
    return best;
  }

  Rank rank(std::size_t parent, const std::set<std::size_t>& waiting,
            const std::set<std::size_t>& above) const {
    std::size_t covered = 0;
    std::size_t most = 0;
    std::size_t sum = 0;
    for (const std::size_t sw : waiting) {
      if (const Edge* const edge = edge_to(sw, parent)) {
        const std::size_t load = preferences_.all.links[edge->link];
        ++covered;
        most = std::max(most, load);
        sum += load;
      }
    }
    const bool joins = parent == root_ || above.contains(parent);
    return {!joins, waiting.size() - covered, most, sum, preferences_.all.switches[parent], parent};
  }

  // Takes a parent for the first that waits, and for all that can share it.
  void take_best(std::set<std::size_t>& waiting, std::set<std::size_t>& above, Parents& out) {
    const std::size_t first = *waiting.begin();
    std::optional<Rank> best;
    for (const Edge& edge : graph_.edges(first)) {
      if (edge_to(first, edge.to) == nullptr) {
        continue;
      }
      const Rank rated = rank(edge.to, waiting, above);
      if (!best || rated < *best) {
        best = rated;
      }
    }
    const std::size_t parent = std::get<5>(*best);
    above.insert(parent);
    for (auto sw = waiting.begin(); sw != waiting.end();) {
      const Edge* const edge = edge_to(*sw, parent);
      if (edge == nullptr) {
        ++sw;
        continue;
      }
      out[*sw] = *edge;
      sw = waiting.erase(sw);
    }
  }

  const Graph& graph_;
  const std::vector<std::size_t>& distances_;
  std::size_t root_;
  const Preferences& preferences_;
};

}  // namespace

Graph::Graph(const Topology& topology, const std::vector<bool>& usable)
    : usable_(usable), edges_(topology.switches.size()) {
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const auto& link = topology.links[i];
    const auto& [a, b] = std::tie(link.a, link.b);
    if (link.unusable.empty() && usable_[a.switch_index] && usable_[b.switch_index]) {
      edges_[a.switch_index].push_back({i, b.switch_index, &a.port, &b.port});
      edges_[b.switch_index].push_back({i, a.switch_index, &b.port, &a.port});
    }
  }
}

std::vector<std::size_t> Graph::distances(std::size_t from) const {
  std::vector<std::size_t> distances(size(), unreachable);
  if (!usable_[from]) {
    return distances;
  }
  distances[from] = 0;
  for (std::deque<std::size_t> next = {from}; !next.empty(); next.pop_front()) {
    for (const Edge& edge : edges_[next.front()]) {
      if (distances[edge.to] == unreachable) {
        distances[edge.to] = distances[next.front()] + 1;
        next.push_back(edge.to);
      }
    }
  }
  return distances;
}

std::vector<std::size_t> Graph::centres(const std::vector<std::size_t>& terminals) const {
  std::vector<std::size_t> farthest(size(), 0);
  for (const std::size_t terminal : terminals) {
    const auto reach = distances(terminal);
    for (std::size_t sw = 0; sw < size(); ++sw) {
      farthest[sw] = std::max(farthest[sw], reach[sw]);
    }
  }
  const std::size_t radius = *std::min_element(farthest.begin(), farthest.end());
  std::vector<std::size_t> centres;
  for (std::size_t sw = 0; sw < size() && radius != unreachable; ++sw) {
    if (farthest[sw] == radius) {
      centres.push_back(sw);
    }
  }
  return centres;
}

Parents span(const Graph& graph, std::size_t root, const std::vector<std::size_t>& terminals,
             const Preferences& preferences) {
  const auto distances = graph.distances(root);
  std::map<std::size_t, std::set<std::size_t>> layers;  // switches of the tree by distance
  for (const std::size_t terminal : terminals) {
    layers[distances[terminal]].insert(terminal);
  }
  const std::size_t deepest = layers.rbegin()->first;
  Parents parents;
  Layer layer(graph, distances, root, preferences);
  for (std::size_t distance = deepest; distance > 0; --distance) {
    layer.choose(layers[distance], layers[distance - 1], parents);
  }
  return parents;
}

}  // namespace tributary::controller
