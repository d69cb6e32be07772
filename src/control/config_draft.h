// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/config.h"
#include "control/config_reader.h"

namespace tributary::control {

inline constexpr std::size_t path_bytes_max = 255;

// This is a configuration between reading and checking: entries remember the table they were read
// from, so that a contradiction found later still has a place. The parsed document owns the tables.
struct SwitchDraft {
  switching::SwitchConfig config;
  std::vector<std::optional<DeviceConfig>> devices;  // one per port; none until a link names it
  const toml::table* source = nullptr;
  // The tables are in the order of the lists of config.
  std::vector<const toml::table*> ports, vlans, routes, routes6, fdb, arp, neighbours6, classes;
  engine::Settings drafts;  // what protocols remember likewise
  bool sound = true;        // every value was readable, so that references can be judged
};

struct PortReference {  // "leaf1:up1"
  std::string switch_name;
  std::string port;
};
Parsed<PortReference> parse_port_reference(std::string_view text);

struct LinkDraft {
  PortReference a, b;
  const toml::table* source = nullptr;
};

struct ConfigDraft {
  DaemonConfig daemon;  // without its switches
  std::vector<SwitchDraft> switches;
  std::vector<LinkDraft> links;
  bool links_sound = true;  // as SwitchDraft::sound
};

void read_switch(Reader& reader, SwitchDraft& out);
void read_port(Reader& reader, SwitchDraft& out);
void read_class(Reader& reader, SwitchDraft& out);
void read_vlan_interface(Reader& reader, SwitchDraft& out);
void read_selection(Reader& reader, forwarding::SelectionConfig& out);
void read_route_selection(Reader& reader, switching::RouteConfig& out);
void read_route_selection(Reader& reader, switching::RouteConfig6& out);
std::optional<DeviceConfig> read_device(Reader& reader);
void read_link(Reader& reader, LinkDraft& out);
void read_daemon(Reader& reader, DaemonConfig& out);
// Reads a handler, behind [daemon], and finds what is wrong with its expression.
void read_handler(Reader& reader, DaemonConfig& out);

// Returns the port of that name, and complains about `where` if there is none.
std::optional<PortIndex> find_port(const switching::SwitchConfig& config, const std::string& name,
                                   Position where, Diagnostics& diagnostics);
// Returns a text for hints, such as "ports: h1, h2".
std::string port_names(const switching::SwitchConfig& config);
void check_classes(const SwitchDraft& draft, Diagnostics& diagnostics);
// Complains of a key that only bridged ports have, where the port that is read is routed.
void refuse_on_routed(Reader& reader, const std::string& key);
// The first checks the VLANs of one port, which `reader` read, the second those of all ports and
// entries together.
void check_port_vlans(Reader& reader, const forwarding::VlanConfig& vlan);
void check_vlans(const SwitchDraft& draft, Diagnostics& diagnostics);
void read_route6(Reader& reader, SwitchDraft& out);
void read_neighbour6(Reader& reader, SwitchDraft& out);
void check_ipv6(const SwitchDraft& draft, Diagnostics& diagnostics);
void check_switch(const SwitchDraft& draft, Diagnostics& diagnostics);
void check_fabric(const ConfigDraft& draft, Diagnostics& diagnostics);
// Joins the ports of each link; complains about ports with two attachments or none.
void connect_links(ConfigDraft& draft, Diagnostics& diagnostics);

}  // namespace tributary::control
