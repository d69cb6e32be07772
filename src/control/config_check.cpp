// SPDX-License-Identifier: BSD-3-Clause
// Here contradictions within one logical switch are found.
#include <algorithm>
#include <set>

#include "control/config_draft.h"
#include "control/config_interfaces.h"
#include "control/protocol_section.h"
#include "forwarding/flow_plan.h"

namespace tributary::control {
namespace {

using switching::SwitchConfig;

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

// An engine sends from the switch's own address.
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
      diagnostics.error(
          position_of(*draft.ports[i], "flow_control"),
          "`flow_control` cannot keep what comes by port `" + ports[i].name +
              "` from being lost: at " + rate_text(forwarding::line_rate(ports[i])) +
              " too much is on its way when it asks for silence",
          (draft.config.classes.empty()
               ? "the queues of this switch need "
               : "the classes with `pfc_priority` need of the queues of this switch ") +
              size_text(plan.capacity_needed) + " each, or the port a lower `rate`" +
              (ports[i].flow.xoff_bytes > 0 ? " or `pause_xoff`" : ""));
      return;
    }
    if (plan.ports[i].lossless && ports[i].flow.xon_bytes >= plan.ports[i].xoff) {
      diagnostics.error(position_of(*draft.ports[i], "pause_xon"),
                        "`pause_xon` is not below `pause_xoff`, which is " +
                            size_text(plan.ports[i].xoff) + " by itself",
                        "give less, or leave it out: then it is half of that");
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
  const auto interfaces = interfaces_of(draft, "address", config.bridge_address,
                                        [](const auto& one) { return one.address; });
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
    const auto self =
        config.address.is_unspecified() ? std::nullopt : std::optional(config.address);
    check_routes(interfaces, self, config.routes, draft.routes, diagnostics);
    const auto errors_before = diagnostics.count();
    check_classes(draft, diagnostics);
    if (diagnostics.count() == errors_before) {  // else lossless classes may only seem too small
      check_flow_control(draft, diagnostics);
    }
    check_vlans(draft, diagnostics);
    check_ipv6(draft, diagnostics);
    check_fdb(draft, diagnostics);
    check_neighbours(interfaces, config.arp, draft.arp, diagnostics);
  }
}

}  // namespace tributary::control
