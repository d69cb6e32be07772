// SPDX-License-Identifier: BSD-3-Clause
// [[switch.route6]] and [[switch.neighbour6]], and how the IPv6 of one logical switch goes
// together.
#include <algorithm>
#include <set>

#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/option_kinds.h"
#include "wire/ipv6.h"

namespace tributary::control {
namespace {

using forwarding::InterfaceAddress6;
using switching::NeighbourConfig6;
using switching::RouteConfig6;

constexpr std::size_t next_hops6_max = 64;

constexpr Option<RouteConfig6> route6_table[] = {
    option::parsed<&RouteConfig6::prefix, parse_prefix6>("prefix", Apply::reload, "no host bits",
                                                         "`\"::/0\"`; once per switch")
        .required(),
    option::list<&RouteConfig6::via, parse_ipv6>(
        "via", Apply::reload, "1 to 64",
        "next hop, or a list of those that share the flows, by a hash of each; each on a connected "
        "prefix")
        .required(),
};

constexpr Option<NeighbourConfig6> neighbour6_table[] = {
    option::parsed<&NeighbourConfig6::address, parse_ipv6>(
        "address", Apply::reload, {}, "of the neighbour, on a connected prefix")
        .required(),
    option::parsed<&NeighbourConfig6::mac, parse_mac>("mac", Apply::reload, {}, "that it has")
        .required(),
};

struct Interface6 {
  std::string name;
  InterfaceAddress6 address;
  Position where;
};

std::vector<Interface6> interfaces6_of(const SwitchDraft& draft) {
  std::vector<Interface6> interfaces;
  const auto& config = draft.config;
  const auto add = [&](std::string name, const auto& address, const toml::table& source,
                       const char* key) {
    if (address) {
      interfaces.push_back({std::move(name), *address, position_of(source, key)});
    }
  };
  add("the bridge", config.bridge_address6, *draft.source, "bridge_address6");
  for (std::size_t i = 0; i < config.ports.size(); ++i) {
    add(config.ports[i].name, config.ports[i].address6, *draft.ports[i], "address6");
  }
  for (std::size_t i = 0; i < config.vlans.size(); ++i) {
    add("VLAN " + std::to_string(config.vlans[i].vid), config.vlans[i].address6, *draft.vlans[i],
        "address6");
  }
  return interfaces;
}

void check_overlaps6(const std::vector<Interface6>& interfaces, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    const auto& b = interfaces[i];
    const auto overlapped =
        std::find_if(interfaces.begin(), interfaces.begin() + static_cast<std::ptrdiff_t>(i),
                     [&](const Interface6& a) {
                       const auto length = std::min(a.address.length, b.address.length);
                       return contains(prefix_of(InterfaceAddress6{a.address.address, length}),
                                       b.address.address);
                     });
    if (overlapped != interfaces.begin() + static_cast<std::ptrdiff_t>(i)) {
      diagnostics.error(b.where,
                        "prefix of " + to_string(b.address) + " overlaps that of " +
                            overlapped->name + " (" + to_string(overlapped->address) + ")",
                        "each interface of a switch needs a prefix of its own");
    }
  }
}

void check_reachable6(const std::vector<Interface6>& interfaces, const wire::IpAddress& address,
                      Position where, Diagnostics& diagnostics) {
  const auto near = std::find_if(interfaces.begin(), interfaces.end(), [&](const Interface6& i) {
    return contains(prefix_of(i.address), address);
  });
  if (near == interfaces.end()) {
    diagnostics.error(where, to_string(address) + " is on no connected prefix",
                      "name a neighbour on the prefix of an `address6`");
  } else if (near->address.address == address) {
    diagnostics.error(where, to_string(address) + " is the switch's own address",
                      "name the neighbour's address");
  }
}

void check_routes6(const SwitchDraft& draft, const std::vector<Interface6>& interfaces,
                   Diagnostics& diagnostics) {
  std::set<forwarding::Prefix6> seen;
  for (std::size_t i = 0; i < draft.config.routes6.size(); ++i) {
    const auto& route = draft.config.routes6[i];
    const auto via = position_of(*draft.routes6[i], "via");
    if (!seen.insert(route.prefix).second) {
      diagnostics.error(position_of(*draft.routes6[i], "prefix"),
                        "a route for " + to_string(route.prefix) + " was given before",
                        "put all its next hops into one `via`");
    }
    std::set<wire::IpAddress> hops;
    for (const auto& hop : route.via) {
      if (!hops.insert(hop).second) {
        diagnostics.error(via, "next hop " + to_string(hop) + " is named twice");
      }
      check_reachable6(interfaces, hop, via, diagnostics);
    }
  }
}

void check_neighbours6(const SwitchDraft& draft, const std::vector<Interface6>& interfaces,
                       Diagnostics& diagnostics) {
  std::set<wire::IpAddress> seen;
  for (std::size_t i = 0; i < draft.config.neighbours6.size(); ++i) {
    const auto& address = draft.config.neighbours6[i].address;
    const auto where = position_of(*draft.neighbours6[i], "address");
    if (!seen.insert(address).second) {
      diagnostics.error(where, "an entry for " + to_string(address) + " was given before");
    }
    check_reachable6(interfaces, address, where, diagnostics);
  }
}

// RFC 8200, section 5: what is smaller would have to be hidden from IPv6.
void check_mtus6(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  const auto speaks = [&](const forwarding::PortConfig& port) {
    const bool by_vlan = std::any_of(config.vlans.begin(), config.vlans.end(), [&](const auto& v) {
      return v.address6 && port.vlan.carries(v.vid);
    });
    const bool by_bridge = !port.is_routed() && config.bridge_address6 &&
                           (config.bridge_vlan == 0 || port.vlan.carries(config.bridge_vlan));
    return port.address6 || by_vlan || by_bridge;
  };
  for (std::size_t i = 0; i < config.ports.size(); ++i) {
    const auto& port = config.ports[i];
    if (port.mtu < wire::ipv6_mtu_min && speaks(port)) {
      diagnostics.error(
          position_of(*draft.ports[i], "mtu"),
          "port `" + port.name + "` is to carry IPv6, and its `mtu` is " + std::to_string(port.mtu),
          "IPv6 wants 1280 and more");
    }
  }
}

}  // namespace

constinit const Options<RouteConfig6> route6_options = route6_table;
constinit const Options<NeighbourConfig6> neighbour6_options = neighbour6_table;

void read_route6(Reader& reader, SwitchDraft& out) {
  auto& route = out.config.routes6.emplace_back();
  out.routes6.push_back(&reader.source());
  read_options(reader, route6_options, route);
  if (reader.has("via") && (route.via.empty() || route.via.size() > next_hops6_max)) {
    reader.error("via", "`via` is to name 1 to " + std::to_string(next_hops6_max) + " next hops");
  }
}

void read_neighbour6(Reader& reader, SwitchDraft& out) {
  out.neighbours6.push_back(&reader.source());
  read_options(reader, neighbour6_options, out.config.neighbours6.emplace_back());
}

void check_ipv6(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto interfaces = interfaces6_of(draft);
  check_overlaps6(interfaces, diagnostics);
  check_routes6(draft, interfaces, diagnostics);
  check_neighbours6(draft, interfaces, diagnostics);
  check_mtus6(draft, diagnostics);
}

}  // namespace tributary::control
