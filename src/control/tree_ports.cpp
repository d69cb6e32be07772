// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_ports.h"

#include "control/protocol_section.h"

namespace tributary::control {

TreePortNames read_tree_ports(Reader& reader) {
  TreePortNames names{&reader.source(), reader.names("children"), reader.names("parent")};
  if (names.parent.size() != 1 && reader.has("parent")) {
    reader.error("parent", "`parent` is to name one port", "leave it out at the root");
  }
  return names;
}

std::optional<TreePorts> find_tree_ports(const switching::SwitchConfig& config,
                                         const TreePortNames& names, Diagnostics& diagnostics) {
  TreePorts ports;
  bool found = true;
  for (const auto& [name, where] : names.children) {
    const auto port = find_port(config, name, where, diagnostics);
    found = found && port;
    ports.children.push_back(port.value_or(no_port));
  }
  for (const auto& [name, where] : names.parent) {
    ports.parent = find_port(config, name, where, diagnostics);
    found = found && ports.parent;
  }
  return found ? std::optional(std::move(ports)) : std::nullopt;
}

tl::expected<TreePorts, std::string> tree_ports_of(const switching::SwitchConfig& config,
                                                   const TreePart& part) {
  TreePorts ports;
  for (const std::string& name : part.children) {
    const auto port = find_port(config, name);
    if (!port) {
      return tl::unexpected(port.error());
    }
    ports.children.push_back(*port);
  }
  if (part.parent) {
    const auto port = find_port(config, *part.parent);
    if (!port) {
      return tl::unexpected(port.error());
    }
    ports.parent = *port;
  }
  return ports;
}

void name_tree_ports(const TreePorts& ports, const switching::SwitchConfig& config,
                     TreePart& part) {
  for (const PortIndex port : ports.children) {
    part.children.push_back(config.ports[port].name);
  }
  if (ports.parent) {
    part.parent = config.ports[*ports.parent].name;
  }
}

std::string tree_ports_text(const TreePorts& ports, const switching::SwitchConfig& config) {
  return "children " + ports_text(ports.children, config) + " parent " +
         (ports.parent ? config.ports[*ports.parent].name : "none");
}

}  // namespace tributary::control
