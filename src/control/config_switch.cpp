// SPDX-License-Identifier: BSD-3-Clause
#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/option_kinds.h"
#include "control/protocol_section.h"
#include "wire/vlan.h"

namespace tributary::control {
namespace {

using forwarding::BfdConfig;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
using switching::ArpEntryConfig;
using switching::FdbEntryConfig;
using switching::RouteConfig;
using switching::SwitchConfig;

constexpr std::size_t next_hops_max = 64;
constexpr Range<Duration> ages{seconds(1), hours(24 * 30)};

constexpr Option<BfdConfig> bfd_table[] = {
    option::duration<&BfdConfig::interval>(
        "interval", Apply::reload, {milliseconds(10), seconds(60)},
        "between two packets to a next hop, and how often it may send to us; the slower of both "
        "sides holds"),
    option::integer<&BfdConfig::multiplier>(
        "multiplier", Apply::reload, {1, 255},
        "so many intervals of silence, and the neighbour takes us for dead"),
};

constexpr Option<SwitchConfig> switch_table[] = {
    option::label<&SwitchConfig::name>("name", Apply::restart, "unique in the file").required(),
    option::integer<&SwitchConfig::id>("id", Apply::restart, {1, 65535},
                                       "the Switch Address of the Canary paper; unique in the "
                                       "fabric")
        .required(),
    option::parsed<&SwitchConfig::address, parse_ipv4>(
        "address", Apply::restart, "a host's address",
        "IPv4 address of the switch itself, where hosts and other switches reach it; some engines "
        "need it. May be that of one of its interfaces")
        .unset_is("none"),
    option::parsed<&SwitchConfig::bridge_address, parse_interface_address>(
        "bridge_address", Apply::restart, {},
        "the bridge as a host on its own segment, `\"10.0.0.254/24\"`")
        .unset_is("none"),
    option::parsed<&SwitchConfig::bridge_address6, parse_interface_address6>(
        "bridge_address6", Apply::restart, {}, "the same of IPv6, `\"2001:db8:1::254/64\"`")
        .unset_is("none"),
    option::parsed<&SwitchConfig::embedding_prefix, parse_embedding_prefix>(
        "embedding_prefix", Apply::restart, "96 bits",
        "engines that know hosts by IPv4 addresses take IPv6 between addresses of this prefix, "
        "which embed them in the lower 32 bits (RFC 6052): `\"2001:db8:64::/96\"`")
        .unset_is("none"),
    option::words<&SwitchConfig::bridge_advertise6, on_off_words>(
        "bridge_advertise6", Apply::reload,
        "as `advertise6` of a port, to the hosts on the bridge's own segment"),
    option::integer<&SwitchConfig::bridge_vlan>(
        "bridge_vlan", Apply::reload, {1, wire::vid_max},
        "where ports have VLANs: that in which the switch itself is, with `bridge_address` and its "
        "aggregation engines; `[[switch.vlan]]` routes others")
        .unset_is("none"),
    option::duration<&SwitchConfig::fdb_ageing>("fdb_ageing", Apply::reload, ages,
                                                "when a station that is not heard is forgotten"),
    option::integer<&SwitchConfig::fdb_capacity>("fdb_capacity", Apply::restart, {16, 1u << 20},
                                                 "stations that are learned"),
    option::duration<&SwitchConfig::arp_timeout>(
        "arp_timeout", Apply::reload, ages,
        "when a neighbour is asked for again, of either version of IP"),
    option::integer<&SwitchConfig::ecmp_seed>(
        "ecmp_seed", Apply::reload, seeds,
        "of the hash that spreads ordinary flows; 0 derives it from `id`"),
    option::by_hand<SwitchConfig>("selection", Apply::reload, {},
                                  "how one of several next hops is chosen")
        .as(Form::table)
        .default_is("ordinary traffic by ECMP, reductions adaptive"),
    option::by_hand<SwitchConfig>(
        "bfd", Apply::reload, {},
        "watches the next hops of static routes, `bfd = { interval = \"100ms\", multiplier = 3 }`")
        .as(Form::table)
        .default_is("off"),
    option::by_hand<SwitchConfig>("port", Apply::restart, "1 to 256", "a port")
        .as(Form::tables)
        .required(),
    option::by_hand<SwitchConfig>("class", Apply::reload, "up to 8", "a class of traffic")
        .as(Form::tables)
        .default_is("none: one queue for all in each port"),
    option::by_hand<SwitchConfig>("vlan", Apply::reload, {},
                                  "a VLAN of the bridge that the switch routes from and to")
        .as(Form::tables)
        .default_is("none"),
    option::by_hand<SwitchConfig>("route", Apply::reload, {}, "a static route")
        .as(Form::tables)
        .default_is("none"),
    option::by_hand<SwitchConfig>("route6", Apply::reload, {}, "a static route of IPv6")
        .as(Form::tables)
        .default_is("none"),
    option::by_hand<SwitchConfig>("fdb", Apply::reload, {}, "a station on a bridged port")
        .as(Form::tables)
        .default_is("none"),
    option::by_hand<SwitchConfig>("arp", Apply::reload, {}, "a neighbour")
        .as(Form::tables)
        .default_is("none"),
    option::by_hand<SwitchConfig>("neighbour6", Apply::reload, {}, "a neighbour by IPv6")
        .as(Form::tables)
        .default_is("none"),
};

constexpr Option<RouteConfig> route_table[] = {
    option::by_hand<RouteConfig>("prefix", Apply::reload, "no host bits",
                                 "`\"0.0.0.0/0\"`; once per switch")
        .required(),
    option::list<&RouteConfig::via, parse_ipv4>(
        "via", Apply::reload, "1 to 64",
        "next hop, or a list of those that share the flows; each on a connected prefix")
        .required(),
    option::by_hand<RouteConfig>(
        "selection", Apply::reload, {},
        "overrides `[switch.selection]` for this group: `\"adaptive\"`, or `{ ordinary = "
        "\"ecmp\", reduction = \"static\" }`, either left out")
        .default_is("`[switch.selection]`"),
};

constexpr Option<FdbEntryConfig> fdb_table[] = {
    option::parsed<&FdbEntryConfig::mac, parse_mac>("mac", Apply::reload, {},
                                                    "of the station; it never ages")
        .required(),
    option::text<&FdbEntryConfig::port>("port", Apply::reload, 255, "that it is behind")
        .required()
        .values_are("a bridged port"),
    option::integer<&FdbEntryConfig::vlan>("vlan", Apply::reload, {1, wire::vid_max},
                                           "in which it is, where ports have VLANs")
        .unset_is("none")
        .default_is("`vlan` of the port"),
};

constexpr Option<ArpEntryConfig> arp_table[] = {
    option::parsed<&ArpEntryConfig::address, parse_ipv4>("address", Apply::reload, {},
                                                         "of the neighbour, on a connected prefix")
        .required(),
    option::parsed<&ArpEntryConfig::mac, parse_mac>("mac", Apply::reload, {}, "that it has")
        .required(),
};

void read_route(Reader& reader, SwitchDraft& out) {
  auto& route = out.config.routes.emplace_back();
  out.routes.push_back(&reader.source());
  read_options(reader, route_options, route);
  reader.parsed("prefix", route.prefix, parse_prefix);
  if (const auto hops = reader.length("via"); hops && (*hops == 0 || *hops > next_hops_max)) {
    reader.error("via", "`via` is to name 1 to " + std::to_string(next_hops_max) + " next hops");
  }
  read_route_selection(reader, route);
}

void read_fdb(Reader& reader, SwitchDraft& out) {
  out.fdb.push_back(&reader.source());
  read_options(reader, fdb_options, out.config.fdb.emplace_back());
}

void read_arp(Reader& reader, SwitchDraft& out) {
  out.arp.push_back(&reader.source());
  read_options(reader, arp_options, out.config.arp.emplace_back());
}

}  // namespace

constinit const Options<BfdConfig> bfd_options = bfd_table;
constinit const Options<SwitchConfig> switch_options = switch_table;
constinit const Options<RouteConfig> route_options = route_table;
constinit const Options<FdbEntryConfig> fdb_options = fdb_table;
constinit const Options<ArpEntryConfig> arp_options = arp_table;

void read_switch(Reader& reader, SwitchDraft& out) {
  const std::size_t errors_before = reader.errors();
  auto& config = out.config;
  out.source = &reader.source();
  read_options(reader, switch_options, config);
  reader.table("bfd",
               [&](Reader& child) { read_options(child, bfd_options, config.bfd.emplace()); });
  reader.table("selection", [&](Reader& child) { read_selection(child, config.selection); });
  for (const auto* section : protocol_sections()) {
    reader.table(section->name, [&](Reader& child) { section->read(child, out); });
  }
  reader.tables("port", [&](Reader& child) { read_port(child, out); });
  reader.tables("class", [&](Reader& child) { read_class(child, out); });
  for (auto& port : config.ports) {
    port.queue.classes = config.classes;
  }
  reader.tables("vlan", [&](Reader& child) { read_vlan_interface(child, out); });
  reader.tables("route", [&](Reader& child) { read_route(child, out); });
  reader.tables("route6", [&](Reader& child) { read_route6(child, out); });
  reader.tables("fdb", [&](Reader& child) { read_fdb(child, out); });
  reader.tables("arp", [&](Reader& child) { read_arp(child, out); });
  reader.tables("neighbour6", [&](Reader& child) { read_neighbour6(child, out); });
  out.sound = reader.errors() == errors_before;
}

}  // namespace tributary::control
