// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "control/config_draft.h"
#include "control/tree_part.h"
#include "packet/packet.h"
#include "switch/config.h"

namespace tributary::control {

// The ports of a switch in an aggregation tree.
struct TreePorts {
  std::vector<PortIndex> children;
  std::optional<PortIndex> parent;  // no value: the switch is the root

  friend bool operator==(const TreePorts&, const TreePorts&) = default;
};

// What a table of the configuration names as `children` and `parent`, before it is looked up.
struct TreePortNames {
  const toml::table* source = nullptr;
  std::vector<std::pair<std::string, Position>> children;
  std::vector<std::pair<std::string, Position>> parent;  // none or one
};
TreePortNames read_tree_ports(Reader& reader);
// No value, and complaints, if one of them is not there.
std::optional<TreePorts> find_tree_ports(const switching::SwitchConfig& config,
                                         const TreePortNames& names, Diagnostics& diagnostics);

// Those that a controller names; the error says which one is not there.
tl::expected<TreePorts, std::string> tree_ports_of(const switching::SwitchConfig& config,
                                                   const TreePart& part);
// Names them in turn.
void name_tree_ports(const TreePorts& ports, const switching::SwitchConfig& config, TreePart& part);

// "children h1, h2 parent up1".
std::string tree_ports_text(const TreePorts& ports, const switching::SwitchConfig& config);

}  // namespace tributary::control
