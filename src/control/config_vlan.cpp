// SPDX-License-Identifier: BSD-3-Clause
// Here VLANs of bridged ports are read, and it is checked how they go together in one logical
// switch.
#include <algorithm>
#include <set>

#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/option_kinds.h"
#include "control/protocol_section.h"
#include "wire/vlan.h"

namespace tributary::control {
namespace {

using forwarding::VlanConfig;
using switching::VlanInterfaceConfig;

constexpr Option<VlanConfig> vlan_table[] = {
    option::integer<&VlanConfig::untagged>(
        "vlan", Apply::reload, {1, wire::vid_max},
        "VLAN of what comes to and leaves this port, a bridged one, without a tag (PVID)")
        .unset_is("none"),
    option::parsed<&VlanConfig::tagged, parse_vids>(
        "vlans", Apply::reload, "of 1 to 4094",
        "VLANs that this port, a bridged one, carries with their tags (a trunk), `\"10,20,30-39\"`")
        .unset_is("none"),
};

constexpr Option<VlanInterfaceConfig> vlan_interface_table[] = {
    option::integer<&VlanInterfaceConfig::vid>(
        "vid", Apply::reload, {1, wire::vid_max},
        "VLAN that bridged ports carry; not that of `bridge_vlan`")
        .required()
        .unlisted(),
    option::parsed<&VlanInterfaceConfig::address, parse_interface_address>(
        "address", Apply::reload, "/4 to /32",
        "of the router in this VLAN, `\"10.0.20.254/24\"`; no two interfaces of a switch share a "
        "prefix")
        .default_is("none"),
    option::parsed<&VlanInterfaceConfig::address6, parse_interface_address6>(
        "address6", Apply::reload, "/16 to /128",
        "the same of IPv6, `\"2001:db8:20::254/64\"`; one of the two is needed")
        .default_is("none"),
    option::words<&VlanInterfaceConfig::advertise6, on_off_words>(
        "advertise6", Apply::reload, "as that of a port, to the hosts in this VLAN"),
};

bool is_carried(const switching::SwitchConfig& config, std::uint16_t vlan) {
  return std::any_of(config.ports.begin(), config.ports.end(),
                     [&](const auto& port) { return port.vlan.carries(vlan); });
}

void complain_of_no_port(std::uint16_t vlan, Position where, Diagnostics& diagnostics) {
  diagnostics.error(where, "no port of this switch carries VLAN " + std::to_string(vlan),
                    "give it to a port as `vlan`, or in `vlans`");
}

// All ports of a bridge have to say something of VLANs, where one of them does.
void check_bridged_ports(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& ports = draft.config.ports;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].is_routed() && !ports[i].vlan.any()) {
      diagnostics.error(
          position_of(*draft.ports[i], "name"),
          "port `" + ports[i].name + "` is in no VLAN, and others of this bridge are in some",
          "give it `vlan`, `vlans` or both");
    }
  }
}

// Engines take what routed ports receive, and of a bridge with VLANs the frames of its own one.
void check_engines(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& ports = draft.config.ports;
  if (std::any_of(ports.begin(), ports.end(), [](const auto& port) { return port.is_routed(); })) {
    return;
  }
  for_each_on(draft.config.protocols, [&](const ProtocolSection& section, const std::any&) {
    diagnostics.error(
        position_of(*draft.source, section.name),
        "[switch." + std::string(section.name) +
            "] would add up nothing: all ports are in VLANs, and the switch is in none",
        "say whose frames it takes, as bridge_vlan = 10");
  });
}

void check_bridge_vlan(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  const auto vlan = config.bridge_vlan;
  if (vlan == 0) {
    if (config.bridge_address || config.bridge_address6) {
      const std::string key = config.bridge_address ? "bridge_address" : "bridge_address6";
      diagnostics.error(position_of(*draft.source, key),
                        "`" + key + "` is in no VLAN, and the ports of this bridge are in some",
                        "say in which one, as bridge_vlan = 10");
    }
    return check_engines(draft, diagnostics);
  }
  if (!is_carried(config, vlan)) {
    complain_of_no_port(vlan, position_of(*draft.source, "bridge_vlan"), diagnostics);
  }
}

void check_vlan_interfaces(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  std::set<std::uint16_t> seen;
  for (std::size_t i = 0; i < config.vlans.size(); ++i) {
    const auto vid = config.vlans[i].vid;
    const auto where = position_of(*draft.vlans[i], "vid");
    if (!seen.insert(vid).second) {
      diagnostics.error(where, "VLAN " + std::to_string(vid) + " was given before",
                        "a VLAN has one interface");
    } else if (vid == config.bridge_vlan) {
      diagnostics.error(where, "VLAN " + std::to_string(vid) + " is that of `bridge_vlan`",
                        "its address is `bridge_address`");
    } else if (!is_carried(config, vid)) {
      complain_of_no_port(vid, where, diagnostics);
    }
  }
}

void check_fdb_vlans(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  for (std::size_t i = 0; i < config.fdb.size(); ++i) {
    const auto& entry = config.fdb[i];
    const auto port = std::find_if(config.ports.begin(), config.ports.end(),
                                   [&](const auto& other) { return other.name == entry.port; });
    if (port == config.ports.end()) {
      continue;
    }
    if (entry.vlan == 0 && port->vlan.any() && port->vlan.untagged == 0) {
      diagnostics.error(
          draft.fdb[i]->source().begin,
          "port `" + entry.port + "` takes tagged frames, and the entry names no VLAN",
          "add, say, vlan = " + std::to_string(port->vlan.tagged.ranges[0].first));
    } else if (entry.vlan != 0 && !port->vlan.carries(entry.vlan)) {
      diagnostics.error(
          position_of(*draft.fdb[i], "vlan"),
          "port `" + entry.port + "` does not carry VLAN " + std::to_string(entry.vlan),
          port->vlan.any() ? "name one of the port's `vlan` and `vlans`"
                           : "this bridge has no VLANs: leave `vlan` out");
    }
  }
}

}  // namespace

constinit const Options<VlanConfig> vlan_options = vlan_table;
constinit const Options<VlanInterfaceConfig> vlan_interface_options = vlan_interface_table;

void read_vlan_interface(Reader& reader, SwitchDraft& out) {
  out.vlans.push_back(&reader.source());
  auto& vlan = out.config.vlans.emplace_back();
  read_options(reader, vlan_interface_options, vlan);
  if (!reader.has("address") && !reader.has("address6")) {
    reader.error("vid", "a VLAN without an address is not routed",
                 "give it `address`, `address6` or both, or leave it out");
  }
}

void check_port_vlans(Reader& reader, const VlanConfig& vlan) {
  for (const std::string key : {"vlan", "vlans"}) {
    refuse_on_routed(reader, key);
  }
  if (vlan.untagged != 0 && vlan.tagged.contains(vlan.untagged)) {
    reader.error("vlans",
                 "VLAN " + std::to_string(vlan.untagged) +
                     " is to leave this port without a tag, and with one",
                 "leave it in `vlan`, or in `vlans`");
  }
}

void check_vlans(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  if (has_vlans(config)) {
    check_bridged_ports(draft, diagnostics);
    check_bridge_vlan(draft, diagnostics);
  } else if (config.bridge_vlan != 0) {
    diagnostics.error(position_of(*draft.source, "bridge_vlan"),
                      "`bridge_vlan`, but no port of this switch is in a VLAN",
                      "give the ports `vlan` or `vlans`");
  }
  check_vlan_interfaces(draft, diagnostics);
  check_fdb_vlans(draft, diagnostics);
}

}  // namespace tributary::control
