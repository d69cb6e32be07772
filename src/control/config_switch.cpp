// SPDX-License-Identifier: BSD-3-Clause
#include <bit>
#include <limits>

#include "control/config_draft.h"

namespace tributary::control {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

// TOML integers are signed.
constexpr std::uint64_t seed_max = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t next_hops_max = 64;

void read_canary(Reader& reader, std::optional<canary::CanaryConfig>& out) {
  canary::CanaryConfig& canary = out.emplace();
  reader.integer("descriptors", canary.descriptors, {1u, 1u << 20});
  if (!std::has_single_bit(canary.descriptors)) {
    const auto below = std::bit_floor(canary.descriptors);
    reader.error("descriptors", "`descriptors` is not a power of two",
                 "for example " + std::to_string(below) + " or " + std::to_string(below * 2));
  }
  reader.quantity("timeout", canary.timeout, as_duration,
                  Range<Duration>{microseconds(1), seconds(10)});
  reader.quantity("root_timeout", canary.root_timeout, as_duration,
                  Range<Duration>{microseconds(1), seconds(10)});
  reader.boolean("learn_contributions", canary.learn_contributions);
  reader.quantity("age_max", canary.age_max, as_duration,
                  Range<Duration>{milliseconds(1), hours(1)});
  if (canary.age_max < canary.timeout) {
    reader.error("age_max", "`age_max` is shorter than `timeout`",
                 "a descriptor outlives its timeout of " + duration_text(canary.timeout));
  }
  reader.integer("hash_seed", canary.hash_seed, {std::uint64_t{0}, seed_max});
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
  reader.table("canary", [&](Reader& child) { read_canary(child, config.canary); });
  reader.tables("port", [&](Reader& child) { read_port(child, out); });
  reader.tables("route", [&](Reader& child) { read_route(child, out); });
  reader.tables("fdb", [&](Reader& child) { read_fdb(child, out); });
  reader.tables("arp", [&](Reader& child) { read_arp(child, out); });
  out.sound = reader.errors() == errors_before;
}

}  // namespace tributary::control
