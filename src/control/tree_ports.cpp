// SPDX-License-Identifier: BSD-3-Clause
#include "control/tree_ports.h"

#include <algorithm>
#include <iterator>

#include "control/protocol_section.h"
#include "control/text.h"
#include "wire/embedding_prefix.h"

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

namespace {

// Engines know the unspecified address as one of IPv4.
tl::expected<wire::Ipv4Address, std::string> as_engines_know(const wire::IpAddress& address) {
  if (address.is_unspecified()) {
    return wire::Ipv4Address{};
  }
  if (!address.is_v4()) {
    const auto embedded = wire::EmbeddingPrefix::embedded_in(address);
    return tl::unexpected("instead of " + to_string(address) +
                          " write the address of IPv4 that it embeds, " + to_string(embedded));
  }
  return address.v4();
}

wire::IpAddress as_controllers_know(const wire::Ipv4Address& address) {
  return address.is_unspecified() ? wire::IpAddress{} : wire::IpAddress(address);
}

}  // namespace

tl::expected<engine::TreePlace, std::string> place_of(const TreePart& part,
                                                      const switching::SwitchConfig& config) {
  engine::TreePlace place{.job = part.job,
                          .group = part.group,
                          .workers = part.workers,
                          .workers_below = part.workers_below};
  for (const auto& source : part.child_addresses) {
    const auto address = as_engines_know(source);
    if (!address) {
      return tl::unexpected(address.error());
    }
    place.child_addresses.push_back(*address);
  }
  const auto parent_address = as_engines_know(part.parent_address);
  if (!parent_address) {
    return tl::unexpected(parent_address.error());
  }
  place.parent_address = *parent_address;
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
                .parent_address = as_controllers_know(place.parent_address)};
  std::ranges::transform(place.child_addresses, std::back_inserter(part.child_addresses),
                         as_controllers_know);
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
