// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/reload.h"

#include <optional>

#include "control/tree_store.h"
#include "dataplane/device_arguments.h"
#include "dataplane/memory_plan.h"

namespace tributary::dataplane {
namespace {

using control::DaemonConfig;
using control::SwitchSection;

bool same(const std::optional<forwarding::InterfaceAddress>& a,
          const std::optional<forwarding::InterfaceAddress>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->address == b->address && a->length == b->length));
}

// Timeouts change under running jobs; a new descriptor array would lose the blocks in the old one.
bool same(const std::optional<canary::CanaryConfig>& a,
          const std::optional<canary::CanaryConfig>& b) {
  return a.has_value() == b.has_value() &&
         (!a || (a->descriptors == b->descriptors && a->hash_seed == b->hash_seed &&
                 a->partitions == b->partitions));
}

// Trees come and go under running jobs; the memory is divided anew only at the start.
bool same(const std::optional<panama::PanamaConfig>& a,
          const std::optional<panama::PanamaConfig>& b) {
  return a.has_value() == b.has_value() && (!a || a->packet_memory == b->packet_memory);
}

// The first thing that differs and must not; empty if there is none.
std::string fixed_difference(const DaemonConfig& a, const DaemonConfig& b) {
  if (a.cores != b.cores) {
    return "daemon.cores";
  }
  if (a.idle != b.idle) {
    return "daemon.idle";
  }
  if (a.hugepages != b.hugepages || a.packets != b.packets) {
    return "daemon.hugepages or daemon.packets";
  }
  if (a.control_socket != b.control_socket || a.control_group != b.control_group) {
    return "daemon.control or daemon.control_group";
  }
  if (control::state_path(a) != control::state_path(b)) {
    return "daemon.state";
  }
  if (a.switches.size() != b.switches.size()) {
    return "the number of switches";
  }
  return {};
}

std::string fixed_difference(const switching::PortConfig& a, const switching::PortConfig& b) {
  if (a.name != b.name) {
    return "its name";
  }
  if (!same(a.address, b.address)) {
    return "its address";
  }
  if (a.mtu != b.mtu) {
    return "its mtu";
  }
  if (!b.mac.is_zero() && a.mac != b.mac) {
    return "its mac";
  }
  return {};
}

std::string fixed_difference(const SwitchSection& a, const SwitchSection& b) {
  if (a.config.name != b.config.name || a.config.id != b.config.id) {
    return "its name or id";
  }
  if (a.config.address != b.config.address ||
      !same(a.config.bridge_address, b.config.bridge_address)) {
    return "its address or bridge_address";
  }
  if (a.config.fdb_capacity != b.config.fdb_capacity) {
    return "fdb_capacity";
  }
  if (!same(a.config.canary, b.config.canary)) {
    return "whether canary is on, its descriptors, its partitions or its hash_seed";
  }
  if (!same(a.config.panama, b.config.panama)) {
    return "whether panama is on, or its packet_memory";
  }
  if (a.config.netreduce.has_value() != b.config.netreduce.has_value()) {
    return "whether netreduce is on";
  }
  if (a.config.ports.size() != b.config.ports.size()) {
    return "the number of its ports";
  }
  for (std::size_t p = 0; p < a.config.ports.size(); ++p) {
    auto difference = fixed_difference(a.config.ports[p], b.config.ports[p]);
    if (difference.empty() && describe(a.devices[p]) != describe(b.devices[p])) {
      difference = "its device";
    }
    if (difference.empty() &&
        control::queues_of(a.devices[p]) != control::queues_of(b.devices[p])) {
      difference = "its queues";
    }
    if (!difference.empty()) {
      return "port \"" + a.config.ports[p].name + "\": " + difference;
    }
  }
  return {};
}

}  // namespace

tl::expected<DaemonConfig, std::string> merge_reload(const DaemonConfig& current,
                                                     const DaemonConfig& next,
                                                     const control::RuntimeTrees& trees,
                                                     std::uint32_t packets) {
  const auto refuse = [](const std::string& what) {
    return tl::unexpected(what +
                          " cannot change while the daemon runs; restart it. Nothing has "
                          "been changed");
  };
  if (const auto difference = fixed_difference(current, next); !difference.empty()) {
    return refuse(difference);
  }
  DaemonConfig merged = next;
  for (std::size_t s = 0; s < current.switches.size(); ++s) {
    const auto& before = current.switches[s];
    auto& after = merged.switches[s];
    if (const auto difference = fixed_difference(before, after); !difference.empty()) {
      return refuse("switch \"" + before.config.name + "\": " + difference);
    }
    for (std::size_t p = 0; p < before.config.ports.size(); ++p) {
      after.config.ports[p].mac = before.config.ports[p].mac;
      after.config.ports[p].line_bps = before.config.ports[p].line_bps;
    }
  }
  if (const auto wanted = packets_of(merged); wanted > packets) {
    return tl::unexpected("the NetReduce rings may hold " + std::to_string(wanted - packets) +
                          " packets more than there was room for at the daemon's start; restart "
                          "it. Nothing has been changed");
  }
  if (const auto added = control::add_trees(merged, trees); !added) {
    return tl::unexpected(added.error() +
                          "; it was installed over the control socket. Nothing has "
                          "been changed");
  }
  return merged;
}

tl::expected<DaemonConfig, std::string> merge_trees(const DaemonConfig& current,
                                                    const DaemonConfig& given,
                                                    const control::RuntimeTrees& trees) {
  DaemonConfig merged = current;
  for (std::size_t s = 0; s < merged.switches.size(); ++s) {
    merged.switches[s].config.panama = given.switches[s].config.panama;
  }
  if (const auto added = control::add_trees(merged, trees); !added) {
    return tl::unexpected(added.error());
  }
  return merged;
}

}  // namespace tributary::dataplane
