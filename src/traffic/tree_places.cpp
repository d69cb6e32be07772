// SPDX-License-Identifier: BSD-3-Clause
#include "traffic/tree_places.h"

#include <algorithm>

namespace tributary::traffic {

TreePlaces::TreePlaces(const TreePlan& plan, std::size_t ports) : workers_(plan.workers) {
  for (std::size_t port = 0; port < ports; ++port) {
    if (plan.parent != port) {
      ports_.push_back(port);
    }
  }
}

std::optional<std::uint32_t> TreePlaces::rank_at(std::uint32_t job, std::size_t port) const {
  const auto found = std::lower_bound(ports_.begin(), ports_.end(), port);
  if (found == ports_.end() || *found != port) {
    return std::nullopt;
  }
  const auto place = static_cast<std::size_t>(found - ports_.begin());
  const auto first = std::size_t{job} * workers_ % ports_.size();
  const auto rank = (place + ports_.size() - first) % ports_.size();
  return rank < workers_ ? std::optional(static_cast<std::uint32_t>(rank)) : std::nullopt;
}

}  // namespace tributary::traffic
