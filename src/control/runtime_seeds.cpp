// SPDX-License-Identifier: BSD-3-Clause
#include "control/runtime_seeds.h"

#include <cstddef>

namespace tributary::control {

void add_seeds(DaemonConfig& config, const RuntimeSeeds& seeds) {
  for (auto& section : config.switches) {
    auto& seed = section.config.selection.reduction_seed;
    if (const auto found = seeds.find(section.config.name); found != seeds.end() && seed == 0) {
      seed = found->second;
    }
  }
}

DaemonConfig with_seeds(DaemonConfig current, const DaemonConfig& given,
                        const RuntimeSeeds& seeds) {
  for (std::size_t s = 0; s < current.switches.size(); ++s) {
    current.switches[s].config.selection.reduction_seed =
        given.switches[s].config.selection.reduction_seed;
  }
  add_seeds(current, seeds);
  return current;
}

}  // namespace tributary::control
