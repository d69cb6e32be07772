// SPDX-License-Identifier: BSD-3-Clause
// Contradictions within one logical switch.
#include <algorithm>
#include <set>

#include "control/config_draft.h"
#include "control/protocol_section.h"
#include "forwarding/flow_plan.h"

namespace tributary::control {
namespace {

using forwarding::InterfaceAddress;
using switching::SwitchConfig;

struct Interface {
  std::string name;  // of the port; "the bridge", "VLAN 10"
  InterfaceAddress address;
  Position where;
};

std::vector<Interface> interfaces_of(const SwitchDraft& draft) {
  std::vector<Interface> interfaces;
  if (draft.config.bridge_address) {
    interfaces.push_back(
        {"the bridge", *draft.config.bridge_address, position_of(*draft.source, "bridge_address")});
  }
  for (std::size_t i = 0; i < draft.config.ports.size(); ++i) {
    const auto& port = draft.config.ports[i];
    if (port.address) {
      interfaces.push_back({port.name, *port.address, position_of(*draft.ports[i], "address")});
    }
  }
  for (std::size_t i = 0; i < draft.config.vlans.size(); ++i) {
    const auto& vlan = draft.config.vlans[i];
    if (vlan.address) {
      interfaces.push_back({"VLAN " + std::to_string(vlan.vid), *vlan.address,
                            position_of(*draft.vlans[i], "address")});
    }
  }
  return interfaces;
}

void check_overlaps(const std::vector<Interface>& interfaces, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const auto& a = interfaces[j];
      const auto& b = interfaces[i];
      const auto length = std::min(a.address.length, b.address.length);
      if (forwarding::contains({a.address.address, length}, b.address.address)) {
        diagnostics.error(b.where,
                          "prefix of " + to_string(b.address) + " overlaps that of " + a.name +
                              " (" + to_string(a.address) + ")",
                          "each interface of a switch needs a prefix of its own");
        break;
      }
    }
  }
}

std::string connected_text(const std::vector<Interface>& interfaces) {
  std::string text;
  for (const auto& interface : interfaces) {
    text += (text.empty() ? "connected: " : ", ") + to_string(prefix_of(interface.address));
  }
  return text.empty() ? "no port of this switch has an address" : text;
}

void check_reachable(const std::vector<Interface>& interfaces, wire::Ipv4Address address,
                     Position where, Diagnostics& diagnostics) {
  const auto near = std::find_if(interfaces.begin(), interfaces.end(), [&](const Interface& i) {
    return forwarding::contains(prefix_of(i.address), address);
  });
  if (near == interfaces.end()) {
    diagnostics.error(where, to_string(address) + " is on no connected prefix",
                      connected_text(interfaces));
  } else if (near->address.address == address) {
    diagnostics.error(where, to_string(address) + " is the switch's own address",
                      "name the neighbour's address");
  }
}

void check_routes(const SwitchDraft& draft, const std::vector<Interface>& interfaces,
                  Diagnostics& diagnostics) {
  std::set<std::pair<std::uint32_t, std::uint8_t>> seen;
  for (std::size_t i = 0; i < draft.config.routes.size(); ++i) {
    const auto& route = draft.config.routes[i];
    const Position via = position_of(*draft.routes[i], "via");
    if (!seen.emplace(route.prefix.network.value(), route.prefix.length).second) {
      diagnostics.error(position_of(*draft.routes[i], "prefix"),
                        "a route for " + to_string(route.prefix) + " was given before",
                        "put all its next hops into one `via`");
    }
    std::set<wire::Ipv4Address> hops;
    for (const wire::Ipv4Address& hop : route.via) {
      if (!hops.insert(hop).second) {
        diagnostics.error(via, "next hop " + to_string(hop) + " is named twice");
      }
      check_reachable(interfaces, hop, via, diagnostics);
    }
  }
}

void check_fdb(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  std::set<std::pair<wire::MacAddress, std::uint16_t>> seen;
  for (std::size_t i = 0; i < config.fdb.size(); ++i) {
    const auto& entry = config.fdb[i];
    const toml::table& source = *draft.fdb[i];
    const auto port = find_port(config, entry.port, position_of(source, "port"), diagnostics);
    const auto vlan = port ? switching::vlan_of(entry, config.ports[*port]) : entry.vlan;
    if (!seen.emplace(entry.mac, vlan).second) {
      diagnostics.error(position_of(source, "mac"),
                        "an entry for " + to_string(entry.mac) + " was given before");
    }
    if (port && config.ports[*port].is_routed()) {
      diagnostics.error(position_of(source, "port"), "port `" + entry.port + "` is routed",
                        "bridge entries point to ports without an address");
    }
  }
  if (config.fdb.size() > config.fdb_capacity) {
    diagnostics.error(position_of(*draft.source, "fdb_capacity"),
                      "more static entries than `fdb_capacity`");
  }
}

void check_arp(const SwitchDraft& draft, const std::vector<Interface>& interfaces,
               Diagnostics& diagnostics) {
  std::set<wire::Ipv4Address> seen;
  for (std::size_t i = 0; i < draft.config.arp.size(); ++i) {
    const wire::Ipv4Address address = draft.config.arp[i].address;
    const Position where = position_of(*draft.arp[i], "address");
    if (!seen.insert(address).second) {
      diagnostics.error(where, "an entry for " + to_string(address) + " was given before");
    }
    check_reachable(interfaces, address, where, diagnostics);
  }
}

void check_ports(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& ports = draft.config.ports;
  if (ports.empty() || ports.size() > ports_per_switch_max) {
    diagnostics.error(position_of(*draft.source, "port"),
                      "a switch has 1 to " + std::to_string(ports_per_switch_max) + " ports, not " +
                          std::to_string(ports.size()));
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].name.empty() && !names.insert(ports[i].name).second) {
      diagnostics.error(position_of(*draft.ports[i], "name"),
                        "another port of this switch is called `" + ports[i].name + "`");
    }
  }
}

// Of what an engine sends.
void check_own_address(const SwitchDraft& draft, const std::string& engine,
                       Diagnostics& diagnostics) {
  if (draft.config.address.is_unspecified() && !draft.source->contains("address")) {
    diagnostics.error(
        position_of(*draft.source, engine),
        "[switch." + engine + "] needs the switch's own address",
        "add, say, address = \"10.1.255.1\" to [[switch]] `" + draft.config.name + "`");
  }
}

// Flow control that lets frames be lost is worse than none: everybody relies on it.
void check_flow_control(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& ports = draft.config.ports;
  const auto plan = forwarding::plan_flow_control(ports);
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    if (ports[i].flow.mode != forwarding::FlowControl::off && !plan.ports[i].lossless) {
      diagnostics.error(position_of(*draft.ports[i], "flow_control"),
                        "`flow_control` cannot keep what comes by port `" + ports[i].name +
                            "` from being lost: at " + rate_text(forwarding::line_rate(ports[i])) +
                            " too much is on its way when it asks for silence",
                        "the queues of this switch need " + size_text(plan.capacity_needed) +
                            " each, or the port a lower `rate`" +
                            (ports[i].flow.xoff_bytes > 0 ? " or `pause_xoff`" : ""));
      return;
    }
  }
}

}  // namespace

std::string port_names(const SwitchConfig& config) {
  std::vector<std::string_view> names;
  for (const auto& port : config.ports) {
    names.push_back(port.name);
  }
  return "ports: " + joined(names);
}

std::optional<PortIndex> find_port(const SwitchConfig& config, const std::string& name,
                                   Position where, Diagnostics& diagnostics) {
  const auto at = std::find_if(config.ports.begin(), config.ports.end(),
                               [&](const auto& port) { return port.name == name; });
  if (at == config.ports.end()) {
    diagnostics.error(where, "no port `" + name + "` on switch `" + config.name + "`",
                      port_names(config));
    return std::nullopt;
  }
  return static_cast<PortIndex>(at - config.ports.begin());
}

void check_switch(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  const auto interfaces = interfaces_of(draft);
  check_ports(draft, diagnostics);
  check_overlaps(interfaces, diagnostics);
  for_each_on(config.protocols, [&](const ProtocolSection& section, const std::any&) {
    if (section.needs_address) {
      check_own_address(draft, std::string(section.name), diagnostics);
    }
  });
  const bool bridged = std::any_of(config.ports.begin(), config.ports.end(),
                                   [](const auto& port) { return !port.is_routed(); });
  for (const std::string key : {"bridge_address", "bridge_address6"}) {
    if (draft.source->contains(key) && !bridged && !config.ports.empty()) {
      diagnostics.error(position_of(*draft.source, key), "`" + key + "`, but every port is routed",
                        "a port without `address` and `address6` belongs to the bridge");
    }
  }
  if (draft.sound) {  // else a reference may only seem to lead nowhere
    check_routes(draft, interfaces, diagnostics);
    check_flow_control(draft, diagnostics);
    check_classes(draft, diagnostics);
    check_vlans(draft, diagnostics);
    check_ipv6(draft, diagnostics);
    check_fdb(draft, diagnostics);
    check_arp(draft, interfaces, diagnostics);
  }
}

}  // namespace tributary::control
