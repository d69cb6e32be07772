// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/config.h"
#include "control/config_reader.h"

namespace tributary::control {

// [[switch.canary.job]]: the ports that it names, before they are looked up.
struct CanaryJobDraft {
  const toml::table* source = nullptr;
  std::vector<std::pair<std::string, Position>> ports;
};

// [[switch.panama.tree]]: likewise.
struct PanamaTreeDraft {
  const toml::table* source = nullptr;
  std::vector<std::pair<std::string, Position>> children;
  std::vector<std::pair<std::string, Position>> parent;  // none or one
};

// A configuration between reading and checking: entries remember the table they were read from, so
// that a contradiction found later still has a place. Tables are owned by the parsed document.
struct SwitchDraft {
  switching::SwitchConfig config;
  std::vector<std::optional<DeviceConfig>> devices;  // one per port; none until a link names it
  const toml::table* source = nullptr;
  std::vector<const toml::table*> ports, routes, fdb, arp;  // in the order of config's lists
  std::vector<CanaryJobDraft> canary_jobs;                  // in the order of config.canary->jobs
  std::vector<PanamaTreeDraft> panama_trees;                // in the order of config.panama->trees
  std::vector<const toml::table*> netreduce_rings;          // in the order of its config's rings
  bool sound = true;  // every value was readable, so that references can be judged
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

void read_daemon(Reader& reader, DaemonConfig& out);
void read_switch(Reader& reader, SwitchDraft& out);
void read_canary(Reader& reader, SwitchDraft& out);
void read_panama(Reader& reader, SwitchDraft& out);
void read_netreduce(Reader& reader, SwitchDraft& out);
void read_port(Reader& reader, SwitchDraft& out);
void read_selection(Reader& reader, forwarding::SelectionConfig& out);
void read_route_selection(Reader& reader, switching::RouteConfig& out);
std::optional<DeviceConfig> read_device(Reader& reader);
void read_link(Reader& reader, LinkDraft& out);

// Turns the names of ports in [[switch.canary.job]] into indices.
void resolve_canary_jobs(SwitchDraft& draft, Diagnostics& diagnostics);
// The same for [[switch.panama.tree]], and what contradicts itself there.
void resolve_panama_trees(SwitchDraft& draft, Diagnostics& diagnostics);
// What contradicts itself in [[switch.netreduce.ring]].
void check_netreduce_rings(const SwitchDraft& draft, Diagnostics& diagnostics);
// Different rings of one id on the switches of a daemon.
void check_netreduce_fabric(const ConfigDraft& draft, Diagnostics& diagnostics);
// The port of that name; complains about `where` if there is none.
std::optional<PortIndex> find_port(const switching::SwitchConfig& config, const std::string& name,
                                   Position where, Diagnostics& diagnostics);
// "ports: h1, h2": for hints.
std::string port_names(const switching::SwitchConfig& config);
void check_switch(const SwitchDraft& draft, Diagnostics& diagnostics);
void check_fabric(const ConfigDraft& draft, Diagnostics& diagnostics);
// Joins the ports of each link; complains about ports with two attachments or none.
void connect_links(ConfigDraft& draft, Diagnostics& diagnostics);

}  // namespace tributary::control
