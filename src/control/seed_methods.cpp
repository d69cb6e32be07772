// SPDX-License-Identifier: BSD-3-Clause
#include "control/seed_methods.h"

#include <algorithm>
#include <string>

namespace tributary::control {

using nlohmann::json;

Answer set_seed(Backend& backend, const json& given) {
  Params params(given);
  const std::string switch_name = params.text("switch");
  const std::uint64_t seed = params.number("reduction_seed", seeds);
  if (const auto ok = params.finish(); !ok) {
    return tl::unexpected(ok.error());
  }
  const auto& switches = backend.config().switches;
  const auto found = std::find_if(switches.begin(), switches.end(), [&](const auto& section) {
    return section.config.name == switch_name;
  });
  if (found == switches.end()) {
    return failure(ErrorCode::refused, "there is no switch `" + switch_name.substr(0, 64) +
                                           "`; `tributaryctl switch` lists them");
  }
  if (const auto own = found->config.selection.reduction_seed; own != 0) {
    return failure(ErrorCode::refused, "the configuration of switch " + switch_name +
                                           " has reduction_seed = " + std::to_string(own) +
                                           "; change it there");
  }
  auto next = backend.seeds();
  if (seed == 0) {
    next.erase(switch_name);
  } else {
    next[switch_name] = seed;
  }
  if (next != backend.seeds()) {
    if (const auto outcome = backend.set_seeds(next); !outcome) {
      return failure(ErrorCode::refused, outcome.error());
    }
  }
  return json{{"switch", switch_name}, {"reduction_seed", seed}};
}

}  // namespace tributary::control
