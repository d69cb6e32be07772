// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "control/config_draft.h"
#include "control/tree_part.h"
#include "engine/tree_place.h"
#include "switch/config.h"

namespace tributary::control {

// A table of the configuration names these as `children` and `parent`; they are not looked up yet.
struct TreePortNames {
  const toml::table* source = nullptr;
  std::vector<std::pair<std::string, Position>> children;
  std::vector<std::pair<std::string, Position>> parent;  // none or one
};
TreePortNames read_tree_ports(Reader& reader);
// Puts them into `place`. Returns false, with complaints, if one of them is not there.
bool find_tree_ports(const switching::SwitchConfig& config, const TreePortNames& names,
                     Diagnostics& diagnostics, engine::TreePlace& place);

// Returns the place that a controller asks for; the error says which port is not there.
tl::expected<engine::TreePlace, std::string> place_of(const TreePart& part,
                                                      const switching::SwitchConfig& config);
// Returns the place in a controller's words.
TreePart part_of(const engine::TreePlace& place, const switching::SwitchConfig& config);

// Returns a text like "group 239.192.0.1 children h1, h2 parent up1".
std::string place_text(const engine::TreePlace& place, const switching::SwitchConfig& config);

}  // namespace tributary::control
