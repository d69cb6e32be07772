// SPDX-License-Identifier: BSD-3-Clause
#include "controller/obstacles.h"

#include <algorithm>
#include <utility>

#include "control/join.h"

namespace tributary::controller {

std::string joined(const std::vector<std::string>& words) {
  return control::join(words);
}

std::string said_of(const std::vector<std::string>& switches, const std::string& what) {
  return (switches.size() == 1 ? "switch " : "each of ") + joined(switches) + " " + what;
}

std::vector<std::string> obstacles(const Topology& topology) {
  using Fault = std::pair<std::string, std::vector<std::string>>;  // and which switches have it
  std::vector<Fault> faults;
  for (const Switch& sw : topology.switches) {
    if (sw.unusable.empty()) {
      continue;
    }
    auto at = std::find_if(faults.begin(), faults.end(),
                           [&](const Fault& fault) { return fault.first == sw.unusable; });
    if (at == faults.end()) {
      at = faults.insert(at, {sw.unusable, {}});
    }
    at->second.push_back(sw.name);
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
