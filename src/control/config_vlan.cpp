// SPDX-License-Identifier: BSD-3-Clause
// VLANs of bridged ports, and how they go together in one logical switch.
#include <algorithm>

#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/option_kinds.h"
#include "wire/vlan.h"

namespace tributary::control {
namespace {

using forwarding::VlanConfig;

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

// What the ports of a bridge have to say of VLANs, where one of them says something.
void check_bridged_ports(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& ports = draft.config.ports;
  for (std::size_t i = 0; i < ports.size(); ++i) {
    if (!ports[i].address && !ports[i].vlan.any()) {
      diagnostics.error(
          position_of(*draft.ports[i], "name"),
          "port `" + ports[i].name + "` is in no VLAN, and others of this bridge are in some",
          "give it `vlan`, `vlans` or both");
    }
  }
}

void check_bridge_vlan(const SwitchDraft& draft, Diagnostics& diagnostics) {
  const auto& config = draft.config;
  const auto vlan = config.bridge_vlan;
  if (vlan == 0) {
    if (config.bridge_address) {
      diagnostics.error(position_of(*draft.source, "bridge_address"),
                        "`bridge_address` is in no VLAN, and the ports of this bridge are in some",
                        "say in which one, as bridge_vlan = 10");
    }
    return;
  }
  const bool is_carried = std::any_of(config.ports.begin(), config.ports.end(),
                                      [&](const auto& port) { return port.vlan.carries(vlan); });
  if (!is_carried) {
    diagnostics.error(position_of(*draft.source, "bridge_vlan"),
                      "no port of this switch carries VLAN " + std::to_string(vlan),
                      "give it to a port as `vlan`, or in `vlans`");
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
          "name one of the port's `vlan` and `vlans`");
    }
  }
}

}  // namespace

constinit const Options<VlanConfig> vlan_options = vlan_table;

void check_port_vlans(Reader& reader, const VlanConfig& vlan) {
  for (const std::string key : {"vlan", "vlans"}) {
    if (reader.has(key) && reader.has("address")) {
      reader.error(key, "`" + key + "` is for bridged ports, and this one is routed",
                   "take `" + key + "` or `address` away");
    }
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
  const bool any = std::any_of(config.ports.begin(), config.ports.end(),
                               [](const auto& port) { return port.vlan.any(); });
  if (any) {
    check_bridged_ports(draft, diagnostics);
    check_bridge_vlan(draft, diagnostics);
  } else if (config.bridge_vlan != 0) {
    diagnostics.error(position_of(*draft.source, "bridge_vlan"),
                      "`bridge_vlan`, but no port of this switch is in a VLAN",
                      "give the ports `vlan` or `vlans`");
  }
  check_fdb_vlans(draft, diagnostics);
}

}  // namespace tributary::control
