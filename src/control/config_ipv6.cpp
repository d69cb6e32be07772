// SPDX-License-Identifier: BSD-3-Clause
// Here [[switch.route6]] and [[switch.neighbour6]] are read, and it is checked how the IPv6 of one
// logical switch goes together.
#include <algorithm>

#include "control/config_draft.h"
#include "control/config_interfaces.h"
#include "control/config_options.h"
#include "control/option_kinds.h"
#include "wire/ipv6.h"

namespace tributary::control {
namespace {

using switching::NeighbourConfig6;
using switching::RouteConfig6;

constexpr std::size_t next_hops6_max = 64;

constexpr Option<RouteConfig6> route6_table[] = {
    option::parsed<&RouteConfig6::prefix, parse_prefix6>("prefix", Apply::reload, "no host bits",
                                                         "`\"::/0\"`; once per switch")
        .required(),
    option::list<&RouteConfig6::via, parse_ipv6>(
        "via", Apply::reload, "1 to 64",
        "next hop, or a list of those that share the flows; each on a connected prefix")
        .required(),
    option::by_hand<RouteConfig6>(
        "selection", Apply::reload, {},
        "overrides `[switch.selection]` for this group, as in `[[switch.route]]`")
        .default_is("`[switch.selection]`"),
};

constexpr Option<NeighbourConfig6> neighbour6_table[] = {
    option::parsed<&NeighbourConfig6::address, parse_ipv6>(
        "address", Apply::reload, {}, "of the neighbour, on a connected prefix")
        .required(),
    option::parsed<&NeighbourConfig6::mac, parse_mac>("mac", Apply::reload, {}, "that it has")
        .required(),
};

// A smaller link would have to be hidden from IPv6 (RFC 8200, section 5).
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

// `key` of `source` says that hosts make addresses of the prefix of `own`.
void check_advertised(bool advertised, const std::optional<forwarding::InterfaceAddress6>& own,
                      const toml::table& source, const std::string& key, Diagnostics& diagnostics) {
  constexpr std::uint8_t of_hosts = 64;  // bits that identifiers leave (RFC 4291, 2.5.1)
  const auto address =
      std::string(key).replace(key.find("advertise6"), std::string::npos, "address6");
  if (advertised && !own) {
    diagnostics.error(
        position_of(source, key),
        "`" + key + "` is for an interface of the router, and there is no `" + address + "`",
        "give it one, or take `" + key + "` away");
  } else if (advertised && own->length != of_hosts) {
    diagnostics.error(position_of(source, key),
                      "hosts make addresses of a /64 only, and that of `" + address + "` is " +
                          to_string(prefix_of(*own)),
                      "make it a /64, or take `" + key + "` away and give hosts their addresses");
  }
}

void check_advertisements(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  check_advertised(config.bridge_advertise6, config.bridge_address6, *draft.source,
                   "bridge_advertise6", diagnostics);
  for (std::size_t i = 0; i < config.ports.size(); ++i) {
    const auto& port = config.ports[i];
    check_advertised(port.advertise6, port.address6, *draft.ports[i], "advertise6", diagnostics);
  }
  for (std::size_t i = 0; i < config.vlans.size(); ++i) {
    const auto& vlan = config.vlans[i];
    check_advertised(vlan.advertise6, vlan.address6, *draft.vlans[i], "advertise6", diagnostics);
  }
}

void check_embedding(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& ports = draft.config.ports;
  const bool is_of_use = std::any_of(ports.begin(), ports.end(), [](const auto& port) {
    return !port.is_routed() || port.address6.has_value();
  });
  if (draft.config.embedding_prefix && !is_of_use) {
    diagnostics.error(position_of(*draft.source, "embedding_prefix"),
                      "`embedding_prefix` is for IPv6, which no port of the switch speaks",
                      "give its ports an `address6`, or take `embedding_prefix` away");
  }
}

}  // namespace

constinit const Options<RouteConfig6> route6_options = route6_table;
constinit const Options<NeighbourConfig6> neighbour6_options = neighbour6_table;

void read_route6(Reader& reader, SwitchDraft& out) {
  auto& route = out.config.routes6.emplace_back();
  out.routes6.push_back(&reader.source());
  read_options(reader, route6_options, route);
  if (const auto hops = reader.length("via"); hops && (*hops == 0 || *hops > next_hops6_max)) {
    reader.error("via", "`via` is to name 1 to " + std::to_string(next_hops6_max) + " next hops");
  }
  read_route_selection(reader, route);
}

void read_neighbour6(Reader& reader, SwitchDraft& out) {
  out.neighbours6.push_back(&reader.source());
  read_options(reader, neighbour6_options, out.config.neighbours6.emplace_back());
}

void check_ipv6(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  const auto interfaces = interfaces_of(draft, "address6", config.bridge_address6,
                                        [](const auto& one) { return one.address6; });
  check_overlaps(interfaces, diagnostics);
  const auto self = config.embedding_prefix
                        ? std::optional(config.embedding_prefix->embed(config.address))
                        : std::nullopt;
  check_routes(interfaces, self, config.routes6, draft.routes6, diagnostics);
  check_neighbours(interfaces, config.neighbours6, draft.neighbours6, diagnostics);
  check_mtus6(draft, diagnostics);
  check_advertisements(draft, diagnostics);
  check_embedding(draft, diagnostics);
}

}  // namespace tributary::control
