// SPDX-License-Identifier: BSD-3-Clause
#include "controller/obstacles.h"

#include <algorithm>

#include "control/join.h"

namespace tributary::controller {

std::string joined(const std::vector<std::string>& words) {
  return control::join(words);
}

std::string said_of(const std::vector<std::string>& switches, const std::string& what) {
  return (switches.size() == 1 ? "switch " : "each of ") + joined(switches) + " " + what;
}

void add_to(std::vector<Alike>& groups, const std::string& name, const std::string& what) {
  auto at = std::find_if(groups.begin(), groups.end(),
                         [&](const Alike& group) { return group.what == what; });
  if (at == groups.end()) {
    at = groups.insert(at, {what, {}});
  }
  at->switches.push_back(name);
}

std::vector<std::string> obstacles(const Topology& topology) {
  std::vector<Alike> faults;
  for (const Switch& sw : topology.switches) {
    if (!sw.unusable.empty()) {
      add_to(faults, sw.name, sw.unusable);
    }
  }
  std::vector<std::string> texts;
  for (const auto& [what, switches] : faults) {
    texts.push_back(said_of(switches, what));
  }
  for (const Link& link : topology.links) {
    if (!link.unusable.empty()) {
      texts.push_back(link.unusable);
    }
  }
  return texts;
}

}  // namespace tributary::controller
