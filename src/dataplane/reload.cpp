// SPDX-License-Identifier: BSD-3-Clause
#include "dataplane/reload.h"

#include <algorithm>

#include "control/config_diff.h"
#include "dataplane/memory_plan.h"

namespace tributary::dataplane {
namespace {

using control::DaemonConfig;
using control::SwitchSection;

// These were taken from the devices: addresses that the file leaves to them, and rates.
void keep_what_devices_said(const SwitchSection& before, SwitchSection& after) {
  const auto ports = std::min(before.config.ports.size(), after.config.ports.size());
  for (std::size_t p = 0; p < ports; ++p) {
    auto& port = after.config.ports[p];
    if (port.mac.is_zero()) {
      port.mac = before.config.ports[p].mac;
    }
    port.line_bps = before.config.ports[p].line_bps;
  }
}

// Returns the first setting that differs and must not; empty if there is none.
std::string fixed_difference(const DaemonConfig& before, const DaemonConfig& after) {
  const auto changes = control::diff(before, after);
  const auto found = std::find_if(changes.begin(), changes.end(),
                                  [](const auto& change) { return change.restart; });
  return found == changes.end() ? std::string() : found->setting;
}

}  // namespace

bool note_line(forwarding::PortConfig& port, std::uint64_t bps) {
  if (bps == 0 || bps == port.line_bps) {
    return false;
  }
  port.line_bps = bps;
  return true;
}

tl::expected<DaemonConfig, std::string> merge_reload(const DaemonConfig& current,
                                                     const DaemonConfig& next,
                                                     const control::RuntimeTrees& trees,
                                                     std::uint32_t packets) {
  DaemonConfig merged = next;
  const auto switches = std::min(current.switches.size(), merged.switches.size());
  for (std::size_t s = 0; s < switches; ++s) {
    keep_what_devices_said(current.switches[s], merged.switches[s]);
  }
  if (const auto difference = fixed_difference(current, merged); !difference.empty()) {
    return tl::unexpected(difference +
                          " cannot change while the daemon runs; restart it. Nothing has been "
                          "changed");
  }
  if (const auto wanted = packets_of(merged); wanted > packets) {
    return tl::unexpected("the engines may hold " + std::to_string(wanted - packets) +
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

}  // namespace tributary::dataplane
