// SPDX-License-Identifier: BSD-3-Clause
#include "controller/tree_use.h"

#include <utility>

namespace tributary::controller {

using nlohmann::json;

std::optional<TreeUse> use_of(const json& row) {
  const json state = row.value("state", json());
  if (!state.is_object()) {
    return std::nullopt;  // the daemon does not know
  }
  TreeUse use{row.value("switch", ""), row.value("job", std::uint32_t{0}),
              row.value("tree", std::uint32_t{0}), std::nullopt};
  if (const json idle = state.value("idle_seconds", json()); idle.is_number()) {
    use.idle_s = idle.get<double>();
  }
  const bool is_young = use.idle_s && *use.idle_s < silence_s;
  return is_young || state.value("active", false) ? std::optional(std::move(use)) : std::nullopt;
}

}  // namespace tributary::controller
