// SPDX-License-Identifier: BSD-3-Clause
// This file reads, checks and describes [switch.netreduce] and its rings.
#include <algorithm>
#include <any>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/join.h"
#include "control/option_kinds.h"
#include "control/protocol_section.h"
#include "protocols/netreduce/controller/rings.h"
#include "protocols/netreduce/engine/config.h"
#include "protocols/netreduce/wire.h"

namespace tributary::netreduce {
namespace {

namespace option = control::option;
using control::Apply;
using control::Diagnostics;
using control::Form;
using control::Option;
using control::Reader;
using control::SettingTexts;
using control::SwitchDraft;

constexpr std::uint32_t id_max = std::numeric_limits<std::uint32_t>::max();

struct Draft {
  static constexpr auto row = NetReduceConfig::row;
  const toml::table* source = nullptr;
  std::vector<const toml::table*> rings;  // [[switch.netreduce.ring]], in the configuration's order
};

std::string addresses_text(const std::vector<wire::IpAddress>& addresses) {
  return control::join(addresses, control::as_text);
}

// options_line() puts the first "rack" in front of this: "a, b rack c".
std::string racks_text(const RingConfig& ring) {
  return control::join(ring.racks, addresses_text, " rack ");
}
void read_racks(Reader& reader, RingConfig& ring) {
  reader.tables("rack", [&ring](Reader& child) {
    child.require({"members"});
    child.list("members", ring.racks.emplace_back(), control::parse_ip);
  });
}

std::string memory_text(const Option<NetReduceConfig>& /*option*/,
                        const NetReduceConfig& netreduce) {
  return netreduce.packet_memory > netreduce.slots() ? std::to_string(netreduce.packet_memory)
                                                     : "that of its rings";
}

constexpr Option<NetReduceConfig> options[] = {
    option::integer<&NetReduceConfig::packet_memory>(
        "packet_memory", Apply::reload_not_upwards, {0, 1u << 20},
        "packets that all rings together may hold, those that a [controller](fabric.md) sets up "
        "included; a ring needs 2 x `window` x `message_packets` x members behind the switch")
        .default_is("what the rings of the file need")
        .listed_as(memory_text),
    option::by_hand<NetReduceConfig>("ring", Apply::reload, {}, "one ring of a job")
        .as(Form::tables)
        .default_is("none"),
};

constexpr Option<RingConfig> ring_options[] = {
    option::integer<&RingConfig::id>("id", Apply::reload, {0, id_max},
                                     "of the ring, in the INA header ([wire format]"
                                     "(wire/netreduce.md#gradient-messages-and-the-ina-header))")
        .required()
        .unlisted(),
    option::list<&RingConfig::members, control::parse_ip>(
        "members", Apply::reload, "2 to 64, each once",
        "addresses of the ranks, in their order: each sends to the next, the last to the first; "
        "all "
        "of IPv4, or all of IPv6")
        .required(),
    option::integer<&RingConfig::window>(
        "window", Apply::reload, {1, wire::ring_window_max},
        "messages that a rank may have open, the paper's N: at least round-trip time x rate / "
        "message"),
    option::integer<&RingConfig::message_packets>("message_packets", Apply::reload,
                                                  {1, wire::ring_message_packets_max},
                                                  "of the longest message"),
    option::one_of<&RingConfig::mtu, wire::ring_mtus>(
        "mtu", Apply::reload,
        "payload bytes of the largest packet: no less than the path MTU of the job's queue pairs"),
    option::list<&RingConfig::local, control::parse_ip>(
        "local", Apply::reload, {},
        "of a ring that spans several racks: members whose packets come to this switch as they "
        "were sent")
        .default_is("all, without `rack`"),
    option::custom<RingConfig, read_racks, racks_text>(
        "rack", Apply::reload, {},
        "with `members`: those behind a switch below this one that adds up "
        "what leaves them")
        .as(Form::tables)
        .default_is("none"),
    option::parsed<&RingConfig::parent, control::parse_ip>(
        "parent", Apply::reload, {},
        "address of the switch above, where what leaves this one meets that of others; of the "
        "members' version of IP")
        .default_is("none: all members are below"),
};

void read(Reader& reader, SwitchDraft& out) {
  auto& netreduce = out.config.protocols.emplace<NetReduceConfig>();
  auto& rings = netreduce.rings;
  auto& draft = out.drafts.emplace<Draft>();
  draft.source = &reader.source();
  control::read_options(reader, options, netreduce);
  reader.tables("ring", [&](Reader& child) {
    draft.rings.push_back(&child.source());
    control::read_options(child, ring_options, rings.emplace_back());
  });
}

void check(SwitchDraft& draft, Diagnostics& diagnostics) {
  auto& netreduce = draft.config.protocols.get<NetReduceConfig>();
  const auto& places = draft.drafts.get<Draft>();
  bool sound = true;
  for (std::size_t i = 0; i < places.rings.size(); ++i) {
    auto fault = find_fault(netreduce, i);
    if (!fault) {
      fault = find_route_fault(netreduce.rings[i], draft.config);
    }
    if (fault) {
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

void list(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config) {
  const auto& netreduce = config.protocols.get<NetReduceConfig>();
  control::list_options(out, path, options, netreduce);
  for (const auto& ring : netreduce.rings) {
    control::list_line(out, path + " ring " + std::to_string(ring.id), ring_options, ring);
  }
}

void describe(control::OptionTables& out) {
  control::describe_options<NetReduceConfig>(options, add_table(out, "[switch.netreduce]"));
  control::describe_options<RingConfig>(ring_options, add_table(out, "[[switch.netreduce.ring]]"));
}

std::uint32_t packets(const std::any& settings) {
  const auto& netreduce = std::any_cast<const NetReduceConfig&>(settings);
  return std::max(netreduce.packet_memory, static_cast<std::uint32_t>(netreduce.slots()));
}

// A window of each ring may come at once. The rings of a controller are not known yet: no member
// can send more at once than a quarter of what they hold, which is two windows of two members at
// least.
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
constexpr control::ProtocolSection config_section{
    .name = "netreduce",
    .help = "the NetReduce engine; without it all of RoCE is ordinary UDP",
    .read = read,
    .check = check,
    .check_fabric = check_fabric,
    .list = list,
    .describe = describe,
    .packets = packets,
    .frames_at_once = frames_at_once,
    .trees = &ring_support};

}  // namespace tributary::netreduce
