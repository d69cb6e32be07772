// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_diff.h"

#include <algorithm>
#include <map>
#include <set>

#include "control/text.h"
#include "control/tree_store.h"

namespace tributary::control {
namespace {

struct Value {
  std::string text;
  bool restart = false;
};
// Settings by their path. What has its default value is listed too, so that both sides name the
// same settings.
using Settings = std::map<std::string, Value>;

struct DeviceText {
  std::string operator()(const InterfaceDevice& d) const {
    const bool xdp = d.driver == InterfaceDevice::Driver::af_xdp;
    return (xdp ? "af_xdp " : "af_packet ") + d.interface;
  }
  std::string operator()(const TapDevice& d) const { return "tap " + d.interface; }
  std::string operator()(const MemifDevice& d) const {
    return "memif " + d.socket + " id " + std::to_string(d.id) + (d.server ? " server" : " client");
  }
  std::string operator()(const PciDevice& d) const { return "pci " + d.address; }
  std::string operator()(const RingDevice& d) const { return "ring " + d.name; }
  std::string operator()(const PcapDevice& d) const {
    std::string files;
    for (const std::string& file : d.rx) {
      files += (files.empty() ? "" : ", ") + file;
    }
    return "pcap rx " + files + " tx " + d.tx + (d.infinite ? " infinite" : "");
  }
  std::string operator()(const RawDevice& d) const { return "device " + d.arguments; }
  std::string operator()(const InternalLink& d) const {
    return "link " + d.peer_switch + ":" + d.peer_port;
  }
};

std::string optional_text(const std::optional<forwarding::InterfaceAddress>& address) {
  return address ? to_string(*address) : std::string("none");
}

void list_impairment(Settings& out, const std::string& path,
                     const forwarding::ImpairmentConfig& i) {
  const auto put = [&](const char* key, std::string text) { out[path + key] = {std::move(text)}; };
  put(" loss", std::to_string(i.loss));
  put(" duplicate", std::to_string(i.duplicate));
  put(" reorder", std::to_string(i.reorder));
  put(" reorder_gap", std::to_string(i.reorder_gap));
  put(" corrupt", std::to_string(i.corrupt));
  put(" delay", duration_text(i.delay));
  put(" jitter", duration_text(i.jitter));
  put(" seed", std::to_string(i.seed));
}

void list_flow_control(Settings& out, const std::string& path,
                       const forwarding::FlowControlConfig& flow) {
  const auto threshold = [](std::uint32_t bytes) {
    return bytes == 0 ? std::string("automatic") : size_text(bytes);
  };
  out[path + " flow_control"] = {std::string(name(flow.mode))};
  out[path + " pause_xoff"] = {threshold(flow.xoff_bytes)};
  out[path + " pause_xon"] = {threshold(flow.xon_bytes)};
  out[path + " pause_reaction"] = {duration_text(flow.reaction)};
}

void list_port(Settings& out, const std::string& path, const switching::PortConfig& port,
               const DeviceConfig& device, std::size_t index) {
  out[path + " index"] = {std::to_string(index), true};
  out[path + " device"] = {to_string(device), true};
  const auto queues = queues_of(device);
  out[path + " queues"] = {queues == queues_automatic ? "auto" : std::to_string(queues), true};
  out[path + " address"] = {optional_text(port.address), true};
  out[path + " mac"] = {port.mac.is_zero() ? "automatic" : to_string(port.mac), true};
  out[path + " mtu"] = {std::to_string(port.mtu), true};
  out[path + " learn"] = {port.learning.on ? "on" : "off"};
  out[path + " addresses_max"] = {
      port.learning.addresses_max ? std::to_string(*port.learning.addresses_max) : "unlimited"};
  out[path + " rate"] = {port.queue.rate_bps == 0 ? "unlimited" : rate_text(port.queue.rate_bps)};
  out[path + " queue"] = {size_text(port.queue.capacity_bytes)};
  out[path + " ecn_threshold"] = {std::to_string(port.queue.ecn_threshold_packets)};
  list_flow_control(out, path, port.flow);
  list_impairment(out, path + " impair_in", port.impair_in);
  list_impairment(out, path + " impair_out", port.impair_out);
}

void list_tables(Settings& out, const std::string& path, const switching::SwitchConfig& config) {
  for (const auto& route : config.routes) {
    std::string hops;
    for (const wire::Ipv4Address& hop : route.via) {
      hops += (hops.empty() ? "" : ", ") + to_string(hop);
    }
    const auto selected = [](const std::optional<forwarding::Policy>& policy, const char* packets) {
      return policy ? std::string(" ") + packets + " " + std::string(name(*policy)) : std::string();
    };
    out[path + " route " + to_string(route.prefix)] = {"via " + hops +
                                                       selected(route.ordinary, "ordinary") +
                                                       selected(route.reduction, "reduction")};
  }
  for (const auto& entry : config.fdb) {
    out[path + " fdb " + to_string(entry.mac)] = {"port " + entry.port};
  }
  for (const auto& entry : config.arp) {
    out[path + " arp " + to_string(entry.address)] = {to_string(entry.mac)};
  }
}

std::string ports_text(const std::vector<PortIndex>& ports, const switching::SwitchConfig& config) {
  std::string text;
  for (const PortIndex port : ports) {
    text += (text.empty() ? "" : ", ") + config.ports[port].name;
  }
  return text;
}

void list_canary_job(Settings& out, const std::string& path, const canary::JobRule& job,
                     const switching::SwitchConfig& config) {
  const auto ports = ports_text(job.ports, config);
  out[path] = {"ports " + (ports.empty() ? "all" : ports) + " quota " +
               (job.quota == 0 ? "default" : std::to_string(job.quota))};
}

void list_canary(Settings& out, const std::string& path, const canary::CanaryConfig& canary,
                 const switching::SwitchConfig& config) {
  const auto put = [&](const char* key, std::string text) { out[path + key] = {std::move(text)}; };
  const auto put_fixed = [&](const char* key, std::uint64_t value) {
    out[path + key] = {std::to_string(value), true};
  };
  put_fixed(" descriptors", canary.descriptors);
  put_fixed(" partitions", canary.partitions);
  put_fixed(" hash_seed", canary.hash_seed);
  put(" timeout", canary.timeout ? duration_text(*canary.timeout) : "adaptive");
  put(" timeout_min", duration_text(canary.timeout_min));
  put(" timeout_max", duration_text(canary.timeout_max));
  put(" root_timeout", duration_text(canary.root_timeout));
  put(" learn_contributions", canary.learn_contributions ? "true" : "false");
  put(" reclaim_after", duration_text(canary.reclaim_after));
  put(" age_max", duration_text(canary.age_max));
  put(" job_quota", std::to_string(canary.job_quota));
  put(" port_quota", std::to_string(canary.port_quota));
  for (const auto& job : canary.jobs) {
    list_canary_job(out, path + " job " + std::to_string(job.job), job, config);
  }
}

// Where what is added up has to come from; nothing if it may come from anywhere.
std::string sources_text(const panama::TreeConfig& tree) {
  std::string text;
  for (const auto address : tree.child_addresses) {
    text += (text.empty() ? " child_addresses " : ",") + to_string(address);
  }
  return text + (tree.parent_address.is_unspecified()
                     ? ""
                     : " parent_address " + to_string(tree.parent_address));
}

void list_panama(Settings& out, const std::string& path, const panama::PanamaConfig& panama,
                 const switching::SwitchConfig& config) {
  out[path + " packet_memory"] = {std::to_string(panama.packet_memory), true};
  for (const auto& tree : panama.trees) {
    out[path + " tree " + std::to_string(tree.job) + "/" + std::to_string(tree.tree)] = {
        "group " + to_string(tree.group) + " children " + ports_text(tree.children, config) +
        " parent " + (tree.parent ? config.ports[*tree.parent].name : "none") + " workers " +
        std::to_string(tree.workers) + " workers_below " + std::to_string(tree.workers_below) +
        " quorum " + std::to_string(tree.quorum) + sources_text(tree)};
  }
}

std::string addresses_text(const std::vector<wire::IpAddress>& addresses) {
  std::string text;
  for (const auto& address : addresses) {
    text += (text.empty() ? "" : ", ") + to_string(address);
  }
  return text;
}

// Of a ring that spans several racks, what lies where.
std::string places_text(const netreduce::RingConfig& ring) {
  std::string text = ring.local.empty() ? "" : " local " + addresses_text(ring.local);
  for (const auto& rack : ring.racks) {
    text += " rack " + addresses_text(rack);
  }
  return text + (ring.parent ? " parent " + to_string(*ring.parent) : "");
}

void list_netreduce(Settings& out, const std::string& path,
                    const netreduce::NetReduceConfig& netreduce) {
  for (const auto& ring : netreduce.rings) {
    out[path + " ring " + std::to_string(ring.id)] = {
        "members " + addresses_text(ring.members) + " window " + std::to_string(ring.window) +
        " message_packets " + std::to_string(ring.message_packets) + " mtu " +
        std::to_string(ring.mtu) + places_text(ring)};
  }
}

void list_selection(Settings& out, const std::string& path,
                    const forwarding::SelectionConfig& selection) {
  out[path + " ordinary"] = {std::string(name(selection.policies.ordinary))};
  out[path + " reduction"] = {std::string(name(selection.policies.reduction))};
  out[path + " flowlet_gap"] = {duration_text(selection.flowlet_gap)};
  out[path + " trees"] = {std::to_string(selection.trees)};
  out[path + " tree_seed"] = {std::to_string(selection.tree_seed)};
}

void list_switch(Settings& out, const SwitchSection& section) {
  const auto& config = section.config;
  const std::string path = "switch " + config.name;
  out[path + " id"] = {std::to_string(config.id), true};
  out[path + " address"] = {to_string(config.address), true};
  out[path + " bridge_address"] = {optional_text(config.bridge_address), true};
  out[path + " fdb_ageing"] = {duration_text(config.fdb_ageing)};
  out[path + " fdb_capacity"] = {std::to_string(config.fdb_capacity), true};
  out[path + " arp_timeout"] = {duration_text(config.arp_timeout)};
  out[path + " ecmp_seed"] = {std::to_string(config.ecmp_seed)};
  list_selection(out, path + " selection", config.selection);
  out[path + " bfd"] = {config.bfd ? duration_text(config.bfd->interval) + " x " +
                                         std::to_string(config.bfd->multiplier)
                                   : std::string("off")};
  out[path + " canary"] = {config.canary ? "on" : "off", true};
  if (config.canary) {
    list_canary(out, path + " canary", *config.canary, config);
  }
  out[path + " panama"] = {config.panama ? "on" : "off", true};
  if (config.panama) {
    list_panama(out, path + " panama", *config.panama, config);
  }
  out[path + " netreduce"] = {config.netreduce ? "on" : "off", true};
  if (config.netreduce) {
    list_netreduce(out, path + " netreduce", *config.netreduce);
  }
  for (std::size_t i = 0; i < config.ports.size(); ++i) {
    list_port(out, path + " port " + config.ports[i].name, config.ports[i], section.devices[i], i);
  }
  list_tables(out, path, config);
}

constexpr const char* idle_names[] = {"adaptive", "poll"};
constexpr const char* hugepages_names[] = {"auto", "never", "always"};

Settings list(const DaemonConfig& config) {
  Settings out;
  std::string cores;
  for (const unsigned core : config.cores) {
    cores += (cores.empty() ? "" : ", ") + std::to_string(core);
  }
  out["daemon cores"] = {cores.empty() ? "auto" : cores, true};
  out["daemon idle"] = {idle_names[static_cast<std::size_t>(config.idle)], true};
  out["daemon hugepages"] = {hugepages_names[static_cast<std::size_t>(config.hugepages)], true};
  out["daemon packets"] = {std::to_string(config.packets), true};
  out["daemon control"] = {config.control_socket, true};
  out["daemon control_group"] = {config.control_group.empty() ? "none" : config.control_group,
                                 true};
  out["daemon state"] = {state_path(config).empty() ? "off" : state_path(config), true};
  out["daemon log_level"] = {config.log_level};
  for (std::size_t i = 0; i < config.switches.size(); ++i) {
    const SwitchSection& section = config.switches[i];
    out["switch " + section.config.name + " index"] = {std::to_string(i), true};
    list_switch(out, section);
  }
  return out;
}

bool is_new_or_gone(const ConfigChange& change) {
  return change.before.empty() || change.after.empty();
}

// Where a port, a switch or an engine as a whole is new or gone, none of its settings can be
// reloaded without it. Its fixed settings show that: they never come or go alone.
void restart_with_section(std::vector<ConfigChange>& changes) {
  std::set<std::string> sections;
  for (const ConfigChange& change : changes) {
    if (change.restart && is_new_or_gone(change)) {
      sections.insert(change.setting.substr(0, change.setting.rfind(' ') + 1));
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

std::string to_string(const DeviceConfig& device) {
  return std::visit(DeviceText{}, device);
}

std::vector<ConfigChange> diff(const DaemonConfig& before, const DaemonConfig& after) {
  const Settings old_settings = list(before);
  const Settings new_settings = list(after);
  std::vector<ConfigChange> changes;
  for (const auto& [path, value] : old_settings) {
    const auto other = new_settings.find(path);
    if (other == new_settings.end()) {
      changes.push_back({path, value.text, {}, value.restart});
    } else if (other->second.text != value.text) {
      changes.push_back({path, value.text, other->second.text, value.restart});
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
