// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_diff.h"

#include <algorithm>
#include <set>

#include "control/config_options.h"
#include "control/join.h"
#include "control/protocol_section.h"
#include "control/text.h"

namespace tributary::control {
namespace {

struct DeviceText {
  std::string operator()(const InterfaceDevice& d) const {
    const bool xdp = d.driver == InterfaceDevice::Driver::af_xdp;
    return (xdp ? "af_xdp " : "af_packet ") + d.interface;
  }
  std::string operator()(const TapDevice& d) const { return "tap " + d.interface; }
  std::string operator()(const MemifDevice& d) const {
    return "memif " + d.socket + " id " + std::to_string(d.id) + (d.server ? " server" : " client");
  }
  std::string operator()(const VhostDevice& d) const {
    return "vhost " + d.socket + (d.server ? " server" : " client");
  }
  std::string operator()(const VirtioUserDevice& d) const { return "virtio_user " + d.socket; }
  std::string operator()(const PciDevice& d) const { return "pci " + d.address; }
  std::string operator()(const RingDevice& d) const { return "ring " + d.name; }
  std::string operator()(const PcapDevice& d) const {
    return "pcap rx " + join(d.rx) + " tx " + d.tx + (d.infinite ? " infinite" : "");
  }
  std::string operator()(const RawDevice& d) const { return "device " + d.arguments; }
  std::string operator()(const InternalLink& d) const {
    return "link " + d.peer_switch + ":" + d.peer_port;
  }
};

void list_port(SettingTexts& out, const std::string& path, const forwarding::PortConfig& port,
               const DeviceConfig& device, std::size_t index) {
  out[path + " index"] = {std::to_string(index), true};
  out[path + " device"] = {to_string(device), true};
  const auto queues = queues_of(device);
  out[path + " queues"] = {queues == queues_automatic ? "auto" : std::to_string(queues), true};
  list_options(out, path, port_options, port);
  list_options(out, path, learning_options, port.learning);
  list_options(out, path, vlan_options, port.vlan);
  list_options(out, path, queue_options, port.queue);
  list_options(out, path, flow_options, port.flow);
  list_options(out, path + " impair_in", impairment_options, port.impair_in);
  list_options(out, path + " impair_out", impairment_options, port.impair_out);
}

// A station may be in several VLANs, also without being told which.
std::uint16_t vid_of(const switching::FdbEntryConfig& entry,
                     const switching::SwitchConfig& config) {
  const auto port = std::find_if(config.ports.begin(), config.ports.end(),
                                 [&](const auto& each) { return each.name == entry.port; });
  return port == config.ports.end() ? entry.vlan : switching::vlan_of(entry, *port);
}

void list_tables(SettingTexts& out, const std::string& path,
                 const switching::SwitchConfig& config) {
  for (const auto& vlan : config.vlans) {
    list_line(out, path + " vlan " + std::to_string(vlan.vid), vlan_interface_options, vlan);
  }
  const auto list_routes = [&](const char* key, const auto& routes) {
    const auto selected = [](const std::optional<forwarding::Policy>& policy, const char* packets) {
      return policy ? std::string(" ") + packets + " " + std::string(name(*policy)) : std::string();
    };
    for (const auto& route : routes) {
      out[path + key + to_string(route.prefix)] = {"via " + join(route.via, as_text) +
                                                   selected(route.ordinary, "ordinary") +
                                                   selected(route.reduction, "reduction")};
    }
  };
  list_routes(" route ", config.routes);
  list_routes(" route6 ", config.routes6);
  for (const auto& entry : config.neighbours6) {
    out[path + " neighbour6 " + to_string(entry.address)] = {to_string(entry.mac)};
  }
  for (const auto& entry : config.fdb) {
    const auto vid = vid_of(entry, config);
    const auto vlan = vid != 0 ? " vlan " + std::to_string(vid) : std::string();
    out[path + " fdb " + to_string(entry.mac) + vlan] = {"port " + entry.port};
  }
  for (const auto& entry : config.arp) {
    out[path + " arp " + to_string(entry.address)] = {to_string(entry.mac)};
  }
}

void list_switch(SettingTexts& out, const SwitchSection& section) {
  const auto& config = section.config;
  const std::string path = "switch " + config.name;
  list_options(out, path, switch_options, config);
  list_options(out, path + " selection", policy_options, config.selection.policies);
  list_options(out, path + " selection", selection_options, config.selection);
  out[path + " bfd"] = {config.bfd ? duration_text(config.bfd->interval) + " x " +
                                         std::to_string(config.bfd->multiplier)
                                   : std::string("off")};
  const auto sections = protocol_sections();
  for (std::size_t row = 0; row < sections.size(); ++row) {
    const auto below = path + " " + std::string(sections[row]->name);
    const bool on = config.protocols.of(row).has_value();
    out[below] = {on ? "on" : "off", true};
    if (on) {
      sections[row]->list(out, below, config);
    }
  }
  for (std::size_t i = 0; i < config.ports.size(); ++i) {
    list_port(out, path + " port " + config.ports[i].name, config.ports[i], section.devices[i], i);
  }
  std::size_t strict = 0;
  for (const auto& one : config.classes) {
    const auto below = path + " class " + one.name;
    list_line(out, below, class_options, one);
    if (one.strict) {  // they go in their order
      out[below + " index"] = {std::to_string(strict++)};
    }
  }
  list_tables(out, path, config);
}

SettingTexts settings_in(const DaemonConfig& config) {
  SettingTexts out;
  list_options(out, "daemon", daemon_options, config);
  for (const HandlerConfig& handler : config.handlers) {
    out["handler " + std::to_string(handler.number)] = {options_line(handler_options, handler)};
  }
  for (std::size_t i = 0; i < config.switches.size(); ++i) {
    const SwitchSection& section = config.switches[i];
    out["switch " + section.config.name + " index"] = {std::to_string(i), true};
    list_switch(out, section);
  }
  return out;
}

// Adds what differs between two values of a setting.
void compare(std::vector<ConfigChange>& changes, const std::string& path, const SettingText& before,
             const SettingText& after) {
  if (before.options.empty()) {
    changes.push_back({path, before.text, after.text, before.restart});
    return;
  }
  for (const auto& [key, text] : before.options) {
    if (const auto& other = after.options.at(key); other != text) {
      changes.push_back({path + " " + key, text, other, before.restart});
    }
  }
}

bool is_new_or_gone(const ConfigChange& change) {
  return change.before.empty() || change.after.empty();
}

// Where a port, a switch or an engine as a whole is new or gone, none of its settings can be
// reloaded without it. Its fixed settings show that: they never come or go alone. An engine that is
// turned on or off may have none.
void restart_with_section(std::vector<ConfigChange>& changes) {
  std::set<std::string> sections;
  for (const ConfigChange& change : changes) {
    if (change.restart) {
      sections.insert(is_new_or_gone(change)
                          ? change.setting.substr(0, change.setting.rfind(' ') + 1)
                          : change.setting + " ");
    }
  }
  for (ConfigChange& change : changes) {
    change.restart |= is_new_or_gone(change) &&
                      std::any_of(sections.begin(), sections.end(), [&](const auto& section) {
                        return change.setting.starts_with(section);
                      });
  }
}

}  // namespace

std::string ports_text(const std::vector<PortIndex>& ports, const switching::SwitchConfig& config) {
  return join(ports, [&](PortIndex port) { return config.ports[port].name; });
}

std::string to_string(const DeviceConfig& device) {
  return std::visit(DeviceText{}, device);
}

std::vector<ConfigChange> diff(const DaemonConfig& before, const DaemonConfig& after) {
  const SettingTexts old_settings = settings_in(before);
  const SettingTexts new_settings = settings_in(after);
  std::vector<ConfigChange> changes;
  for (const auto& [path, value] : old_settings) {
    const auto other = new_settings.find(path);
    if (other == new_settings.end()) {
      changes.push_back({path, value.text, {}, value.restart});
    } else if (other->second.text != value.text) {
      compare(changes, path, value, other->second);
    }
  }
  for (const auto& [path, value] : new_settings) {
    if (!old_settings.contains(path)) {
      changes.push_back({path, {}, value.text, value.restart});
    }
  }
  restart_with_section(changes);
  std::sort(changes.begin(), changes.end(),
            [](const auto& a, const auto& b) { return a.setting < b.setting; });
  return changes;
}

std::string to_string(const ConfigChange& change) {
  std::string text;
  if (change.before.empty()) {
    text = "+ " + change.setting + ": " + change.after;
  } else if (change.after.empty()) {
    text = "- " + change.setting + ": " + change.before;
  } else {
    text = "~ " + change.setting + ": " + change.before + " -> " + change.after;
  }
  return change.restart ? text + "  (needs a restart)" : text;
}

bool needs_restart(const std::vector<ConfigChange>& changes) {
  return std::any_of(changes.begin(), changes.end(),
                     [](const ConfigChange& change) { return change.restart; });
}

}  // namespace tributary::control
