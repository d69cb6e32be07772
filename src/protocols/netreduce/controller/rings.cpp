// SPDX-License-Identifier: BSD-3-Clause
#include "protocols/netreduce/controller/rings.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "protocols/netreduce/engine/config.h"

namespace tributary::netreduce {
namespace {

using control::TreePart;

struct Setting {
  std::string_view name;
  std::string_view variable;  // of the workers' environment
  std::uint16_t RingConfig::*member;
  std::uint16_t max;
};
constexpr Setting settings[] = {
    {"window", "TRIBUTARY_NETREDUCE_WINDOW", &RingConfig::window, wire::ring_window_max},
    {"message_packets", "TRIBUTARY_NETREDUCE_MESSAGE", &RingConfig::message_packets,
     wire::ring_message_packets_max},
    {"mtu", "TRIBUTARY_NETREDUCE_MTU", &RingConfig::mtu, 4096},
};

constexpr std::string_view setting_names[] = {settings[0].name, settings[1].name, settings[2].name};
static_assert(std::size(setting_names) == std::size(settings));

// The error names the setting that is not known, or too large.
tl::expected<void, std::string> read_settings(const control::TreeSettings& given,
                                              RingConfig& ring) {
  for (const auto& [name, value] : given) {
    const auto* const known =
        std::find_if(std::begin(settings), std::end(settings),
                     [&name = name](const Setting& each) { return each.name == name; });
    if (known == std::end(settings)) {
      return tl::unexpected("a ring has no setting `" + name.substr(0, 64) +
                            "`; there are window, message_packets and mtu");
    }
    if (value < 1 || value > known->max) {
      return tl::unexpected("`" + name + "` is to be 1 to " + std::to_string(known->max));
    }
    ring.*(known->member) = static_cast<std::uint16_t>(value);
  }
  return {};
}

// The hosts are the first of the children, the switches below the last.
tl::expected<RingConfig, std::string> ring_of(const TreePart& part) {
  if (part.tree != 0) {
    return tl::unexpected(std::string("a job has one ring: its tree is number 0"));
  }
  if (part.racks.size() > part.children.size()) {
    return tl::unexpected(std::string("`racks` has more entries than `children`"));
  }
  const auto hosts = part.children.size() - part.racks.size();
  RingConfig ring;
  ring.id = part.job;
  ring.members = part.members;
  if (part.parent || !part.racks.empty()) {
    if (part.child_addresses.size() < hosts) {
      return tl::unexpected(std::string("`child_addresses` lacks those of the hosts"));
    }
    ring.local.assign(part.child_addresses.begin(),
                      part.child_addresses.begin() + static_cast<std::ptrdiff_t>(hosts));
  }
  ring.racks = part.racks;
  if (part.parent) {
    if (part.parent_address.is_unspecified()) {
      return tl::unexpected(
          std::string("the switch above has no address; give its [[switch]] in "
                      "the fabric file an `address`"));
    }
    ring.parent = part.parent_address;
  }
  return read_settings(part.settings, ring).map([&] { return std::move(ring); });
}

tl::expected<void, std::string> add(switching::SwitchConfig& config, const TreePart& part) {
  auto ring = ring_of(part);
  if (!ring) {
    return tl::unexpected(ring.error());
  }
  auto& netreduce = config.protocols.get<NetReduceConfig>();
  netreduce.rings.push_back(std::move(*ring));
  auto fault = find_fault(netreduce, netreduce.rings.size() - 1);
  if (!fault) {
    fault = find_route_fault(netreduce.rings.back(), config);
  }
  if (fault) {
    return tl::unexpected(fault->message + (fault->hint.empty() ? "" : " (" + fault->hint + ")"));
  }
  if (netreduce.slots() > netreduce.packet_memory) {
    return tl::unexpected("its rings may hold " + std::to_string(netreduce.packet_memory) +
                          " packets, and would need " + std::to_string(netreduce.slots()) +
                          "; raise packet_memory in its [switch.netreduce] and restart it");
  }
  return {};
}

// By the id alone a switch would take the packets of one ring for those of the other.
std::string conflict(const switching::SwitchConfig& other, const TreePart& part) {
  const auto* const netreduce = other.protocols.find<NetReduceConfig>();
  const auto ring = ring_of(part);
  if (netreduce == nullptr || !ring) {
    return {};
  }
  for (const auto& its : netreduce->rings) {
    if (its.id == ring->id && !are_one_ring(its, *ring)) {
      return "ring " + std::to_string(its.id) + " is another one in the configuration of switch " +
             other.name + "; give the job another `id`, or take that ring out there";
    }
  }
  return {};
}

// Rings of the configuration name no ports: they are no trees that a controller could place.
std::vector<TreePart> list(const switching::SwitchConfig& /*config*/) {
  return {};
}

// How many rings fit depends on their sizes, so this tells how many of the smallest do beside those
// of the configuration, which nobody lists: two messages of one packet, from one member. A switch
// says whether there is room when it is asked to take one.
nlohmann::json room(const switching::SwitchConfig& config) {
  const auto& netreduce = config.protocols.get<NetReduceConfig>();
  const std::size_t packets = netreduce.packet_memory;
  RingConfig smallest;
  smallest.window = 1;
  smallest.message_packets = 1;
  const auto free = packets - std::min(packets, netreduce.slots());
  return {{"packet_memory_packets", packets}, {"trees_max", free / smallest.aggregators()}};
}

control::Environment environment(const control::JobTrees& job) {
  control::Environment variables = {{"TRIBUTARY_NETREDUCE_RING", std::to_string(job.job)}};
  for (const Setting& each : settings) {
    if (const auto found = job.settings.find(std::string(each.name)); found != job.settings.end()) {
      variables.emplace_back(each.variable, std::to_string(found->second));
    }
  }
  return variables;
}

}  // namespace

std::optional<RingFault> find_route_fault(const RingConfig& ring,
                                          const switching::SwitchConfig& config) {
  const auto& ports = config.ports;
  const bool is_possible =
      ring.members.front().is_v4() || std::ranges::any_of(ports, [](const auto& port) {
        return !port.is_routed() || port.address6;
      });
  return is_possible ? std::nullopt
                     : std::optional(RingFault{
                           "members", "a ring of IPv6, and no port of the switch takes IPv6",
                           "give the members' ports an `address6`, or leave `address` out, so that "
                           "they are bridged"});
}

bool are_one_ring(const RingConfig& a, const RingConfig& b) {
  return a.members == b.members && a.window == b.window && a.message_packets == b.message_packets &&
         a.mtu == b.mtu;
}

constexpr control::TreeSupport ring_support{
    .limits = {.trees_max = 1, .groups = false, .members = true, .quorums = false},
    .settings = setting_names,
    .add = add,
    .conflict = conflict,
    .list = list,
    .room = room,
    .environment = environment};

}  // namespace tributary::netreduce
