// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_warnings.h"

#include <algorithm>
#include <set>
#include <utility>

#include "control/text.h"
#include "forwarding/traffic_class.h"

namespace tributary::control {
namespace {

using forwarding::PortConfig;
using switching::SwitchConfig;
using Warnings = std::vector<std::string>;

std::string of_switch(const SwitchConfig& config) {
  return "switch `" + config.name + "`: ";
}

// Returns how many of the largest frames, which are those that queues are full of, a class holds.
std::uint64_t frames_held(const forwarding::TrafficClass& one, const PortConfig& port) {
  return forwarding::class_capacity(one, port.queue.classes, port.queue.capacity_bytes) /
         forwarding::frame_bytes_max(port);
}

// There is one warning for each class, about the port where it has the least room.
void check_thresholds(const SwitchConfig& config, Warnings& warnings) {
  for (const auto& one : config.classes) {
    const auto tightest = std::min_element(
        config.ports.begin(), config.ports.end(),
        [&](const auto& a, const auto& b) { return frames_held(one, a) < frames_held(one, b); });
    const auto held = frames_held(one, *tightest);
    if (one.ecn_threshold_packets == 0 || held > one.ecn_threshold_packets) {
      continue;
    }
    warnings.push_back(of_switch(config) + "class `" + one.name + "` marks no packet by its " +
                       "ecn_threshold of " + std::to_string(one.ecn_threshold_packets) +
                       ": of port `" + tightest->name + "` it has room for " +
                       std::to_string(held) + " frames of MTU " + std::to_string(tightest->mtu) +
                       ", and drops the tail before; a lower ecn_threshold, a larger queue, or " +
                       "ecn_threshold = 0 where none is to be marked");
  }
}

// Returns the ports of the least and of the largest MTU among those that carry a VLAN; VLAN 0 means
// that the bridge has none. Both are null where there are no ports.
std::pair<const PortConfig*, const PortConfig*> extremes(const SwitchConfig& config,
                                                         std::uint16_t vid) {
  std::pair<const PortConfig*, const PortConfig*> found{};
  for (const auto& port : config.ports) {
    if (port.is_routed() || (vid != 0 && !port.vlan.carries(vid))) {
      continue;
    }
    if (found.first == nullptr || port.mtu < found.first->mtu) {
      found.first = &port;
    }
    if (found.second == nullptr || port.mtu > found.second->mtu) {
      found.second = &port;
    }
  }
  return found;
}

void check_mtus(const SwitchConfig& config, Warnings& warnings) {
  const bool on = switching::has_vlans(config);
  std::set<std::pair<const PortConfig*, const PortConfig*>> told;
  for (std::uint16_t vid = on ? 1 : 0; vid < (on ? wire::vids : 1); ++vid) {
    const auto pair = extremes(config, vid);
    const auto& [least, largest] = pair;
    if (least == nullptr || least->mtu == largest->mtu || !told.insert(pair).second) {
      continue;
    }
    const auto where = on ? "VLAN " + std::to_string(vid) : std::string("the bridge");
    warnings.push_back(of_switch(config) + "ports `" + least->name + "` (mtu " +
                       std::to_string(least->mtu) + ") and `" + largest->name + "` (" +
                       std::to_string(largest->mtu) + ") of " + where +
                       " differ in MTU: what is larger than the one takes is lost, and nobody is "
                       "told; give all of them one mtu");
  }
}

}  // namespace

std::vector<std::string> warnings_of(const DaemonConfig& config) {
  Warnings warnings;
  for (const auto& section : config.switches) {
    check_thresholds(section.config, warnings);
    check_mtus(section.config, warnings);
  }
  return warnings;
}

}  // namespace tributary::control
