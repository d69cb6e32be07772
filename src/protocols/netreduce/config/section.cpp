// SPDX-License-Identifier: BSD-3-Clause
// [switch.netreduce] and its rings.
#include <algorithm>
#include <any>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "control/protocol_section.h"
#include "protocols/netreduce/controller/rings.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/wire.h"

namespace tributary::netreduce {
namespace {

using control::Diagnostics;
using control::Reader;
using control::SettingTexts;
using control::SwitchDraft;

constexpr control::Range<std::uint32_t> packet_memory_range{0, 1u << 20};
constexpr std::uint32_t id_max = std::numeric_limits<std::uint32_t>::max();

struct Draft {
  static constexpr auto row = NetReduceConfig::row;
  const toml::table* source = nullptr;
  std::vector<const toml::table*> rings;  // [[switch.netreduce.ring]], in the configuration's order
};

void read_ring(Reader& reader, RingConfig& ring) {
  reader.require({"id", "members"});
  reader.integer("id", ring.id, {0u, id_max});
  reader.list("members", ring.members, control::parse_ip);
  reader.integer<std::uint16_t>("window", ring.window, {1, wire::ring_window_max});
  reader.integer<std::uint16_t>("message_packets", ring.message_packets,
                                {1, wire::ring_message_packets_max});
  reader.integer<std::uint16_t>("mtu", ring.mtu, {256, 4096});
  reader.list("local", ring.local, control::parse_ip);
  reader.tables("rack", [&ring](Reader& child) {
    child.require({"members"});
    child.list("members", ring.racks.emplace_back(), control::parse_ip);
  });
  reader.parsed("parent", ring.parent, control::parse_ipv4);
}

void read(Reader& reader, SwitchDraft& out) {
  auto& netreduce = out.config.protocols.emplace<NetReduceConfig>();
  auto& rings = netreduce.rings;
  auto& draft = out.drafts.emplace<Draft>();
  draft.source = &reader.source();
  reader.integer("packet_memory", netreduce.packet_memory, packet_memory_range);
  reader.tables("ring", [&](Reader& child) {
    draft.rings.push_back(&child.source());
    read_ring(child, rings.emplace_back());
  });
}

void check(SwitchDraft& draft, Diagnostics& diagnostics) {
  auto& netreduce = draft.config.protocols.get<NetReduceConfig>();
  const auto& places = draft.drafts.get<Draft>();
  bool sound = true;
  for (std::size_t i = 0; i < places.rings.size(); ++i) {
    if (auto fault = find_fault(netreduce, i)) {
      diagnostics.error(control::position_of(*places.rings[i], fault->setting),
                        std::move(fault->message), std::move(fault->hint));
      sound = false;
    }
  }
  if (!sound) {
    return;
  }
  const auto needed = static_cast<std::uint32_t>(netreduce.slots());
  if (places.source->contains("packet_memory") && netreduce.packet_memory < needed) {
    diagnostics.error(
        control::position_of(*places.source, "packet_memory"),
        "the rings need more packets than `packet_memory`",
        "at least " + std::to_string(needed) + ", and more for rings of a controller");
  }
  netreduce.packet_memory = std::max(netreduce.packet_memory, needed);
}

bool are_one_ring(const RingConfig& a, const RingConfig& b) {
  return a.members == b.members && a.window == b.window && a.message_packets == b.message_packets &&
         a.mtu == b.mtu;
}

// By the id alone a switch would take the packets of one ring for those of the other.
void check_fabric(const control::ConfigDraft& draft, Diagnostics& diagnostics) {
  std::map<std::uint32_t, std::pair<const SwitchDraft*, const RingConfig*>> known;
  for (const SwitchDraft& sw : draft.switches) {
    const auto* places = sw.drafts.find<Draft>();
    for (std::size_t i = 0; places != nullptr && i < places->rings.size(); ++i) {
      const auto& ring = sw.config.protocols.get<NetReduceConfig>().rings[i];
      const auto& [owner, other] = known.try_emplace(ring.id, &sw, &ring).first->second;
      if (owner != &sw && !are_one_ring(*other, ring)) {
        diagnostics.error(control::position_of(*places->rings[i], "id"),
                          "ring " + std::to_string(ring.id) + " is another one on switch `" +
                              owner->config.name + "`",
                          "one ring has the same `members`, `window`, `message_packets` and `mtu` "
                          "on all its switches, and another ring another `id`");
      }
    }
  }
}

std::string addresses_text(const std::vector<wire::IpAddress>& addresses) {
  std::string text;
  for (const auto& address : addresses) {
    text += (text.empty() ? "" : ", ") + control::to_string(address);
  }
  return text;
}

// Of a ring that spans several racks, what lies where.
std::string places_text(const RingConfig& ring) {
  std::string text = ring.local.empty() ? "" : " local " + addresses_text(ring.local);
  for (const auto& rack : ring.racks) {
    text += " rack " + addresses_text(rack);
  }
  return text + (ring.parent ? " parent " + control::to_string(*ring.parent) : "");
}

void list(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config) {
  const auto& netreduce = config.protocols.get<NetReduceConfig>();
  out[path + " packet_memory"] = {netreduce.packet_memory > netreduce.slots()
                                      ? std::to_string(netreduce.packet_memory)
                                      : std::string("that of its rings")};
  for (const auto& ring : netreduce.rings) {
    out[path + " ring " + std::to_string(ring.id)] = {
        "members " + addresses_text(ring.members) + " window " + std::to_string(ring.window) +
        " message_packets " + std::to_string(ring.message_packets) + " mtu " +
        std::to_string(ring.mtu) + places_text(ring)};
  }
}

std::uint32_t packets(const std::any& settings) {
  const auto& netreduce = std::any_cast<const NetReduceConfig&>(settings);
  return std::max(netreduce.packet_memory, static_cast<std::uint32_t>(netreduce.slots()));
}

// A window of each ring. Of those of a controller, which are not known yet, no member can send at
// once more than a quarter of what they hold: two windows of two members at least.
std::uint64_t frames_at_once(const std::any& settings) {
  const auto& netreduce = std::any_cast<const NetReduceConfig&>(settings);
  std::uint64_t frames = (packets(settings) - netreduce.slots()) / 4;
  for (const auto& ring : netreduce.rings) {
    frames += std::uint64_t{ring.window} * ring.message_packets;
  }
  return frames;
}

}  // namespace

extern const control::ProtocolSection config_section;
constexpr control::ProtocolSection config_section{.name = "netreduce",
                                                  .read = read,
                                                  .check = check,
                                                  .check_fabric = check_fabric,
                                                  .list = list,
                                                  .packets = packets,
                                                  .frames_at_once = frames_at_once,
                                                  .trees = &ring_support};

}  // namespace tributary::netreduce
