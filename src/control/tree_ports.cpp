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

bool find_tree_ports(const switching::SwitchConfig& config, const TreePortNames& names,
                     Diagnostics& diagnostics, engine::TreePlace& place) {
  bool found = true;
  for (const auto& [name, where] : names.children) {
    const auto port = find_port(config, name, where, diagnostics);
    found = found && port;
    place.children.push_back(port.value_or(no_port));
  }
  for (const auto& [name, where] : names.parent) {
    place.parent = find_port(config, name, where, diagnostics);
    found = found && place.parent;
  }
  return found;
}

tl::expected<engine::TreePlace, std::string> place_of(const TreePart& part,
                                                      const switching::SwitchConfig& config) {
  engine::TreePlace place{.job = part.job,
                          .group = part.group,
                          .workers = part.workers,
                          .workers_below = part.workers_below,
                          .child_addresses = part.child_addresses,
                          .parent_address = part.parent_address};
  for (const std::string& name : part.children) {
    const auto port = find_port(config, name);
    if (!port) {
      return tl::unexpected(port.error());
    }
    place.children.push_back(*port);
  }
  if (part.parent) {
    const auto port = find_port(config, *part.parent);
    if (!port) {
      return tl::unexpected(port.error());
    }
    place.parent = *port;
  }
  return place;
}

TreePart part_of(const engine::TreePlace& place, const switching::SwitchConfig& config) {
  TreePart part{.job = place.job,
                .group = place.group,
                .workers = place.workers,
                .workers_below = place.workers_below,
                .quorum = place.workers,
                .child_addresses = place.child_addresses,
                .parent_address = place.parent_address};
  for (const PortIndex port : place.children) {
    part.children.push_back(config.ports[port].name);
  }
  if (place.parent) {
    part.parent = config.ports[*place.parent].name;
  }
  return part;
}

std::string place_text(const engine::TreePlace& place, const switching::SwitchConfig& config) {
  return "group " + to_string(place.group) + " children " + ports_text(place.children, config) +
         " parent " + (place.parent ? config.ports[*place.parent].name : "none");
}

}  // namespace tributary::control
