// SPDX-License-Identifier: BSD-3-Clause
// [switch.netreduce] and its rings.
#include <limits>
#include <map>
#include <utility>

#include "control/config_draft.h"
#include "protocols/netreduce/wire.h"

namespace tributary::control {
namespace {

constexpr std::uint32_t id_max = std::numeric_limits<std::uint32_t>::max();

void read_ring(Reader& reader, SwitchDraft& out) {
  auto& ring = out.config.netreduce->rings.emplace_back();
  out.netreduce_rings.push_back(&reader.source());
  reader.require({"id", "members"});
  reader.integer("id", ring.id, {0u, id_max});
  reader.list("members", ring.members, parse_ip);
  reader.integer<std::uint16_t>("window", ring.window, {1, wire::ring_window_max});
  reader.integer<std::uint16_t>("message_packets", ring.message_packets,
                                {1, wire::ring_message_packets_max});
  reader.integer<std::uint16_t>("mtu", ring.mtu, {256, 4096});
  reader.list("local", ring.local, parse_ip);
  reader.tables("rack", [&ring](Reader& child) {
    child.require({"members"});
    child.list("members", ring.racks.emplace_back(), parse_ip);
  });
  reader.parsed("parent", ring.parent, parse_ipv4);
}

}  // namespace

void read_netreduce(Reader& reader, SwitchDraft& out) {
  out.config.netreduce.emplace();
  reader.tables("ring", [&](Reader& child) { read_ring(child, out); });
}

void check_netreduce_rings(const SwitchDraft& draft, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < draft.netreduce_rings.size(); ++i) {
    if (auto fault = netreduce::find_fault(*draft.config.netreduce, i)) {
      diagnostics.error(position_of(*draft.netreduce_rings[i], fault->setting),
                        std::move(fault->message), std::move(fault->hint));
    }
  }
}

namespace {

bool are_one_ring(const netreduce::RingConfig& a, const netreduce::RingConfig& b) {
  return a.members == b.members && a.window == b.window && a.message_packets == b.message_packets &&
         a.mtu == b.mtu;
}

}  // namespace

// By the id alone a switch would take the packets of one ring for those of the other.
void check_netreduce_fabric(const ConfigDraft& draft, Diagnostics& diagnostics) {
  std::map<std::uint32_t, std::pair<const SwitchDraft*, const netreduce::RingConfig*>> known;
  for (const SwitchDraft& sw : draft.switches) {
    for (std::size_t i = 0; i < sw.netreduce_rings.size(); ++i) {
      const auto& ring = sw.config.netreduce->rings[i];
      const auto& [owner, other] = known.try_emplace(ring.id, &sw, &ring).first->second;
      if (owner != &sw && !are_one_ring(*other, ring)) {
        diagnostics.error(position_of(*sw.netreduce_rings[i], "id"),
                          "ring " + std::to_string(ring.id) + " is another one on switch `" +
                              owner->config.name + "`",
                          "one ring has the same `members`, `window`, `message_packets` and `mtu` "
                          "on all its switches, and another ring another `id`");
      }
    }
  }
}

}  // namespace tributary::control
