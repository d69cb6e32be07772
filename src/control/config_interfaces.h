// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "control/config_draft.h"
#include "control/text.h"

// Here is found what is wrong with the interfaces of a router and with what refers to them, in the
// same way for either version of IP. `Own` is forwarding::InterfaceAddress or InterfaceAddress6.
namespace tributary::control {

template <typename Own>
struct Interface {
  std::string name;  // of the port; "the bridge", "VLAN 10"
  Own address;
  Position where;
};
template <typename Own>
struct Interfaces {
  std::string key;  // an interface has its address by this key
  std::vector<Interface<Own>> all;
};

// `address_of` returns the address of a port or VLAN, if there is one.
template <typename Own, typename AddressOf>
Interfaces<Own> interfaces_of(const SwitchDraft& draft, const std::string& key,
                              const std::optional<Own>& bridge, AddressOf address_of) {
  Interfaces<Own> found{key, {}};
  const auto add = [&](std::string name, const std::optional<Own>& address,
                       const toml::table& source, const std::string& in) {
    if (address) {
      found.all.push_back({std::move(name), *address, position_of(source, in)});
    }
  };
  const auto& config = draft.config;
  add("the bridge", bridge, *draft.source, "bridge_" + key);
  for (std::size_t i = 0; i < config.ports.size(); ++i) {
    add(config.ports[i].name, address_of(config.ports[i]), *draft.ports[i], key);
  }
  for (std::size_t i = 0; i < config.vlans.size(); ++i) {
    const auto& vlan = config.vlans[i];
    add("VLAN " + std::to_string(vlan.vid), address_of(vlan), *draft.vlans[i], key);
  }
  return found;
}

template <typename Own>
void check_overlaps(const Interfaces<Own>& interfaces, Diagnostics& diagnostics) {
  const auto& all = interfaces.all;
  for (auto b = all.begin(); b != all.end(); ++b) {
    const auto a = std::find_if(all.begin(), b, [&](const Interface<Own>& other) {
      const auto length = std::min(other.address.length, b->address.length);
      return contains(prefix_of(Own{other.address.address, length}), b->address.address);
    });
    if (a != b) {
      diagnostics.error(b->where,
                        "prefix of " + to_string(b->address) + " overlaps that of " + a->name +
                            " (" + to_string(a->address) + ")",
                        "each interface of a switch needs a prefix of its own");
    }
  }
}

template <typename Own>
std::string connected_text(const Interfaces<Own>& interfaces) {
  std::string text;
  for (const auto& interface : interfaces.all) {
    text += (text.empty() ? "connected: " : ", ") + to_string(prefix_of(interface.address));
  }
  return text.empty() ? "no port of this switch has an `" + interfaces.key + "`" : text;
}

// Checks that a neighbour may have the address.
template <typename Own, typename Address>
void check_reachable(const Interfaces<Own>& interfaces, const Address& address, Position where,
                     Diagnostics& diagnostics) {
  const auto& all = interfaces.all;
  const auto near = std::find_if(all.begin(), all.end(), [&](const Interface<Own>& each) {
    return contains(prefix_of(each.address), address);
  });
  if (near == all.end()) {
    diagnostics.error(where, to_string(address) + " is on no connected prefix",
                      connected_text(interfaces));
  } else if (near->address.address == address) {
    diagnostics.error(where, to_string(address) + " is the switch's own address",
                      "name the neighbour's address");
  }
}

// Says why a route for this prefix would never be used: a switch knows its own interfaces better.
template <typename Own>
std::optional<std::string> own_route(const Interfaces<Own>& interfaces,
                                     const std::optional<decltype(Own::address)>& self,
                                     const std::string& prefix) {
  constexpr std::uint8_t bits = 8 * sizeof(Own::address);
  if (self && to_string(prefix_of(Own{*self, bits})) == prefix) {
    return "is the switch's own address";
  }
  for (const auto& each : interfaces.all) {
    if (to_string(prefix_of(each.address)) == prefix) {
      return "is that of " + each.name + ", by which the switch reaches it";
    }
    if (to_string(prefix_of(Own{each.address.address, bits})) == prefix) {
      return "is the switch's own address on " + each.name;
    }
  }
  return std::nullopt;
}

// `sources` says where each of `routes` was read, and `self` is the switch's own address, if it has
// one.
template <typename Own, typename Routes>
void check_routes(const Interfaces<Own>& interfaces,
                  const std::optional<decltype(Own::address)>& self, const Routes& routes,
                  const std::vector<const toml::table*>& sources, Diagnostics& diagnostics) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < routes.size(); ++i) {
    const auto prefix = to_string(routes[i].prefix);
    const auto via = position_of(*sources[i], "via");
    if (const auto why = own_route(interfaces, self, prefix)) {
      diagnostics.error(position_of(*sources[i], "prefix"), prefix + " " + *why,
                        "a route for it would never be used: remove it, or give a longer prefix");
    }
    if (!seen.insert(prefix).second) {
      diagnostics.error(position_of(*sources[i], "prefix"),
                        "a route for " + prefix + " was given before",
                        "put all its next hops into one `via`");
    }
    std::set<decltype(Own::address)> hops;
    for (const auto& hop : routes[i].via) {
      if (!hops.insert(hop).second) {
        diagnostics.error(via, "next hop " + to_string(hop) + " is named twice");
      }
      check_reachable(interfaces, hop, via, diagnostics);
    }
  }
}

// Static neighbours are checked in the same way.
template <typename Own, typename Entries>
void check_neighbours(const Interfaces<Own>& interfaces, const Entries& entries,
                      const std::vector<const toml::table*>& sources, Diagnostics& diagnostics) {
  std::set<decltype(Own::address)> seen;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto& address = entries[i].address;
    const auto where = position_of(*sources[i], "address");
    if (!seen.insert(address).second) {
      diagnostics.error(where, "an entry for " + to_string(address) + " was given before");
    }
    check_reachable(interfaces, address, where, diagnostics);
  }
}

}  // namespace tributary::control
