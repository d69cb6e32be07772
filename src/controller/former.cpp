// SPDX-License-Identifier: BSD-3-Clause
#include "controller/former.h"

#include <algorithm>

#include "controller/spanning.h"

namespace tributary::controller {
namespace {

// Returns the switch behind a port, if a link is there.
std::optional<std::size_t> neighbour(const Topology& topology, std::size_t sw,
                                     const std::string& port) {
  for (const Link& link : topology.links) {
    if (leads(link.a, sw, port)) {
      return link.b.switch_index;
    }
    if (leads(link.b, sw, port)) {
      return link.a.switch_index;
    }
  }
  return std::nullopt;
}

}  // namespace

Former::Former(const Topology& topology, const std::vector<PlacedPart>& installed,
               std::uint32_t job, std::size_t tree) {
  for (const PlacedPart& each : installed) {
    if (each.part.job != job || each.part.tree != tree) {
      continue;
    }
    parts_.push_back({&each, std::nullopt});
    if (each.part.parent) {
      parts_.back().above = neighbour(topology, each.switch_index, *each.part.parent);
    }
  }
}

std::size_t Former::kept(std::size_t root, const std::vector<std::size_t>& distances) const {
  const auto stays = [&](const Part& part) {
    const std::size_t sw = part.placed->switch_index;
    if (!part.placed->part.parent || sw == root) {
      return !part.placed->part.parent && sw == root;
    }
    return part.above && distances[*part.above] != unreachable &&
           distances[*part.above] + 1 == distances[sw];
  };
  return static_cast<std::size_t>(std::count_if(parts_.begin(), parts_.end(), stays));
}

std::map<std::size_t, std::string> Former::parents() const {
  std::map<std::size_t, std::string> ports;
  for (const Part& part : parts_) {
    if (part.placed->part.parent) {
      ports.emplace(part.placed->switch_index, *part.placed->part.parent);
    }
  }
  return ports;
}

std::optional<wire::Ipv4Address> Former::group() const {
  std::map<wire::Ipv4Address, std::size_t> counts;
  for (const Part& part : parts_) {
    ++counts[part.placed->part.group];
  }
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return most == counts.end() ? std::nullopt : std::optional(most->first);
}

}  // namespace tributary::controller
