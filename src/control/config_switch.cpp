// SPDX-License-Identifier: BSD-3-Clause
#include <limits>

#include "control/config_draft.h"
#include "control/protocol_section.h"

namespace tributary::control {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// TOML integers are signed.
constexpr std::uint64_t seed_max = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t next_hops_max = 64;

void read_bfd(Reader& reader, std::optional<forwarding::BfdConfig>& out) {
  auto& bfd = out.emplace();
  reader.quantity("interval", bfd.interval, as_duration,
                  Range<Duration>{milliseconds(10), seconds(60)});
  reader.integer<std::uint8_t>("multiplier", bfd.multiplier, {1, 255});
}

void read_route(Reader& reader, SwitchDraft& out) {
  auto& route = out.config.routes.emplace_back();
  out.routes.push_back(&reader.source());
  reader.require({"prefix", "via"});
  reader.parsed("prefix", route.prefix, parse_prefix);
  reader.list("via", route.via, parse_ipv4);
  if (reader.has("via") && (route.via.empty() || route.via.size() > next_hops_max)) {
    reader.error("via", "`via` is to name 1 to " + std::to_string(next_hops_max) + " next hops");
  }
  read_route_selection(reader, route);
}

void read_fdb(Reader& reader, SwitchDraft& out) {
  auto& entry = out.config.fdb.emplace_back();
  out.fdb.push_back(&reader.source());
  reader.require({"mac", "port"});
  reader.parsed("mac", entry.mac, parse_mac);
  reader.text("port", entry.port);
}

void read_arp(Reader& reader, SwitchDraft& out) {
  auto& entry = out.config.arp.emplace_back();
  out.arp.push_back(&reader.source());
  reader.require({"address", "mac"});
  reader.parsed("address", entry.address, parse_ipv4);
  reader.parsed("mac", entry.mac, parse_mac);
}

}  // namespace

void read_switch(Reader& reader, SwitchDraft& out) {
  const std::size_t errors_before = reader.errors();
  auto& config = out.config;
  out.source = &reader.source();
  reader.require({"name", "id", "port"});
  reader.name("name", config.name);
  reader.integer<std::uint16_t>("id", config.id, {1, 65535});
  reader.parsed("address", config.address, parse_ipv4);
  reader.parsed("bridge_address", config.bridge_address, parse_interface_address);
  reader.quantity("fdb_ageing", config.fdb_ageing, as_duration,
                  Range<Duration>{seconds(1), hours(24 * 30)});
  reader.integer("fdb_capacity", config.fdb_capacity, {16u, 1u << 20});
  reader.quantity("arp_timeout", config.arp_timeout, as_duration,
                  Range<Duration>{seconds(1), hours(24 * 30)});
  reader.integer("ecmp_seed", config.ecmp_seed, {std::uint64_t{0}, seed_max});
  reader.table("bfd", [&](Reader& child) { read_bfd(child, config.bfd); });
  reader.table("selection", [&](Reader& child) { read_selection(child, config.selection); });
  for (const auto* section : protocol_sections()) {
    reader.table(section->name, [&](Reader& child) { section->read(child, out); });
  }
  reader.tables("port", [&](Reader& child) { read_port(child, out); });
  reader.tables("route", [&](Reader& child) { read_route(child, out); });
  reader.tables("fdb", [&](Reader& child) { read_fdb(child, out); });
  reader.tables("arp", [&](Reader& child) { read_arp(child, out); });
  out.sound = reader.errors() == errors_before;
}

}  // namespace tributary::control
