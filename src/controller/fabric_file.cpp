// SPDX-License-Identifier: BSD-3-Clause
#include "controller/fabric_file.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "control/config_draft.h"
#include "control/config_reader.h"
#include "control/protocol_section.h"
#include "control/socket_file.h"
#include "control/toml_file.h"
#include "controller/obstacles.h"
#include "wire/embedding_prefix.h"
#include "wire/quorum.h"

namespace tributary::controller {
namespace {

using control::Complaint;
using control::Diagnostics;
using control::nearest;
using control::Parsed;
using control::PortReference;
using control::Position;
using control::position_of;
using control::Reader;
using control::unix_path_max;

constexpr std::uint32_t fabric_version = 1;
constexpr std::size_t workers_max = std::numeric_limits<std::uint16_t>::max() - 1;

using Place = std::pair<std::size_t, std::string>;  // a switch's port

// These are parts of a fabric between reading and checking.
struct LinkText {
  std::optional<PortReference> a, b;
  const toml::table* source = nullptr;
};
struct HostText {
  std::string name;
  std::optional<PortReference> port;
  wire::IpAddress address;
  const toml::table* source = nullptr;
};
struct JobText {
  std::uint32_t id = 0;
  std::vector<std::pair<std::string, Position>> hosts;
  std::uint16_t trees = 0;
  double share = 1.0;
  std::string engine;
  const control::TreeSupport* support = nullptr;
  control::TreeSettings settings;
  const toml::table* source = nullptr;
};

Parsed<GroupRange> parse_groups(std::string_view text) {
  const std::string hint = "write it like \"239.192.0.0/16\"";
  const auto prefix = control::parse_prefix(text);
  if (!prefix) {
    return tl::unexpected(Complaint{prefix.error().message, hint});
  }
  const std::uint32_t first = prefix->network.value();
  const std::uint32_t last = first | ~control::prefix_mask(prefix->length);
  if (!prefix->network.is_multicast() || !wire::Ipv4Address(last).is_multicast()) {
    return tl::unexpected(
        Complaint{"`" + std::string(text) + "` holds addresses that are not multicast", hint});
  }
  if ((first >> 8) == 0xe00000) {
    return tl::unexpected(Complaint{"224.0.0.0/24 belongs to the protocols of routers", hint});
  }
  // The first address of a prefix looks like a network's, so it is left out.
  return GroupRange{wire::Ipv4Address(prefix->length < 31 ? first + 1 : first),
                    wire::Ipv4Address(last)};
}

class FabricReader {
 public:
  explicit FabricReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  FabricFile read(const toml::table& document) {
    Reader reader(document, "", diagnostics_);
    read_root(reader);
    reader.finish();
    if (diagnostics_.count() == 0) {  // else a reference may only seem to lead nowhere
      resolve_links();
      resolve_hosts();
    }
    if (diagnostics_.count() == 0) {
      resolve_jobs();
    }
    return std::move(fabric_);
  }

 private:
  void read_root(Reader& reader) {
    std::uint32_t version = 0;
    reader.require({"version", "switch", "host"});
    reader.integer("version", version, {0u, 0xffffffffu});
    if (reader.has("version") && version != fabric_version) {
      reader.error("version", "this fabric is in a format that is not known here",
                   "version = " + std::to_string(fabric_version));
    }
    reader.parsed("groups", fabric_.groups, parse_groups);
    reader.tables("switch", [&](Reader& child) { read_switch(child); });
    reader.tables("link", [&](Reader& child) { read_link(child); });
    reader.tables("host", [&](Reader& child) { read_host(child); });
    reader.tables("job", [&](Reader& child) { read_job(child); });
  }

  void read_switch(Reader& reader) {
    auto& sw = fabric_.topology.switches.emplace_back();
    auto& point = fabric_.points.emplace_back();
    reader.require({"name", "control"});
    reader.name("name", sw.name);
    reader.text("control", point.socket, unix_path_max);
    reader.text("ssh", point.ssh);
    reader.parsed("address", sw.address, control::parse_ip);
    if (point.ssh.starts_with('-')) {
      reader.error("ssh", "`ssh` is no host", "for example ssh = \"root@leaf1\"");
    }
    if (!sw.name.empty() && !switches_.emplace(sw.name, switches_.size()).second) {
      reader.error("name", "another switch is called `" + sw.name + "`");
    }
  }

  void read_link(Reader& reader) {
    auto& link = links_.emplace_back();
    link.source = &reader.source();
    reader.require({"a", "b"});
    reader.parsed("a", link.a, control::parse_port_reference);
    reader.parsed("b", link.b, control::parse_port_reference);
  }

  void read_host(Reader& reader) {
    auto& host = hosts_.emplace_back();
    host.source = &reader.source();
    reader.require({"name", "port"});
    reader.name("name", host.name);
    reader.parsed("port", host.port, control::parse_port_reference);
    reader.parsed("address", host.address, control::parse_ip);
  }

  void read_job(Reader& reader) {
    auto& job = jobs_.emplace_back();
    job.source = &reader.source();
    reader.require({"id", "hosts"});
    reader.integer("id", job.id, {1u, std::numeric_limits<std::uint32_t>::max()});
    job.hosts = reader.names("hosts");
    read_algorithm(reader, job);
    read_trees(reader, job);
    reader.number("share", job.share, {wire::quorum_share_least, 1.0});
    if (reader.has("hosts") && (job.hosts.empty() || job.hosts.size() > workers_max)) {
      reader.error("hosts", "a job has 1 to " + std::to_string(workers_max) + " hosts");
    }
  }

  // Reads by which protocol the job's switches add up, and what that may be told.
  static void read_algorithm(Reader& reader, JobText& job) {
    job.engine = control::first_tree_engine();
    reader.text("algorithm", job.engine);
    const auto* const section = control::tree_section(job.engine);
    if (section == nullptr) {
      std::vector<std::string_view> names;
      for (const auto* each : control::protocol_sections()) {
        if (each->trees != nullptr) {
          names.push_back(each->name);
        }
      }
      reader.error("algorithm", "no protocol `" + job.engine + "` takes trees",
                   "one of " + control::joined(names));
      return;
    }
    job.support = section->trees;
    reader.table("settings", [&](Reader& child) {
      for (const auto name : job.support->settings) {
        if (std::uint32_t value = 0; child.has(name)) {
          child.integer(name, value, {1u, 65535u});
          job.settings[std::string(name)] = value;
        }
      }
    });
  }

  static void read_trees(Reader& reader, JobText& job) {
    const toml::node* const value = reader.source().get("trees");
    if (value == nullptr || value->is_integer()) {
      reader.integer<std::uint16_t>("trees", job.trees, {1, control::trees_per_job_max});
      return;
    }
    reader.know("trees");
    if (!reader.is_text("trees", "all")) {
      reader.error("trees", "`trees` is to be \"all\" or a whole number",
                   "from 1 to " + std::to_string(control::trees_per_job_max));
    }
  }

  std::optional<SwitchPort> resolve(const PortReference& port, Position where) {
    const auto at = switches_.find(port.switch_name);
    if (at != switches_.end()) {
      return SwitchPort{at->second, port.port};
    }
    std::vector<std::string_view> names;
    for (const auto& entry : switches_) {
      names.push_back(entry.first);
    }
    diagnostics_.error(where, "no switch `" + port.switch_name + "`",
                       "there are " + control::joined(names));
    return std::nullopt;
  }

  void resolve_links() {
    for (const LinkText& text : links_) {
      const Position at_a = position_of(*text.source, "a");
      const Position at_b = position_of(*text.source, "b");
      const auto a = resolve(*text.a, at_a);
      const auto b = resolve(*text.b, at_b);
      if (!a || !b) {
        continue;
      }
      if (a->switch_index == b->switch_index) {
        diagnostics_.error(at_b, "a link joins two different switches");
      }
      claim(*a, at_a);
      claim(*b, at_b);
      fabric_.topology.links.push_back({*a, *b, ""});
    }
  }

  void claim(const SwitchPort& port, Position where) {
    if (!linked_.emplace(port.switch_index, port.port).second) {
      diagnostics_.error(where, "port `" + text_of(port) + "` is in another link");
    }
  }

  void resolve_hosts() {
    for (const HostText& text : hosts_) {
      const Position where = position_of(*text.source, "port");
      const auto port = resolve(*text.port, where);
      if (!port) {
        continue;
      }
      if (linked_.contains({port->switch_index, port->port})) {
        diagnostics_.error(where, "port `" + text_of(*port) + "` leads to another switch",
                           "name the port that the host is behind");
      }
      if (!host_index_.emplace(text.name, fabric_.topology.hosts.size()).second) {
        diagnostics_.error(position_of(*text.source, "name"),
                           "another host is called `" + text.name + "`");
      }
      fabric_.topology.hosts.push_back({text.name, *port, "", text.address});
    }
  }

  void resolve_jobs() {
    std::set<std::uint32_t> ids;
    for (const JobText& text : jobs_) {
      const Position where = position_of(*text.source, "id");
      if (!ids.insert(text.id).second) {
        diagnostics_.error(where, "job " + std::to_string(text.id) + " was given before");
      }
      check_limits(text);
      fabric_.jobs.push_back({text.id, workers_of(text), text.trees,
                              static_cast<std::uint16_t>(wire::quorum_of(
                                  text.share, static_cast<std::uint32_t>(text.hosts.size()))),
                              text.engine, text.support->limits, text.settings});
      fabric_.shares.push_back(text.share);
      fabric_.job_places.push_back({"", where.line, where.column, "", ""});
    }
  }

  void check_limits(const JobText& text) {
    const auto& limits = text.support->limits;
    if (text.trees > limits.trees_max) {
      diagnostics_.error(position_of(*text.source, "trees"),
                         "a job of " + text.engine + " has at most " +
                             std::to_string(limits.trees_max) + " of `trees`",
                         "leave `trees` out");
    }
    if (text.share < 1 && !limits.quorums) {
      diagnostics_.error(position_of(*text.source, "share"),
                         "a result of " + text.engine + " lacks no worker", "leave `share` out");
    }
    for (const auto& sw : fabric_.topology.switches) {
      check_address(text, "switch `" + sw.name + "`", sw.address, position_of(*text.source, "id"));
    }
    for (const auto& [name, where] : text.hosts) {
      const auto at = host_index_.find(name);
      if (at == host_index_.end()) {
        continue;
      }
      const auto& host = fabric_.topology.hosts[at->second];
      check_address(text, "host `" + name + "`", host.address, where);
      if (limits.members && host.address.is_unspecified()) {
        diagnostics_.error(where,
                           "host `" + name + "` has no `address`, which " + text.engine + " needs",
                           "add it to its [[host]]");
      }
    }
  }

  // Protocols that know others by 32 bits cannot know every address of IPv6.
  void check_address(const JobText& text, const std::string& who, const wire::IpAddress& address,
                     Position where) {
    const auto embedded = wire::EmbeddingPrefix::embedded_in(address);
    if (!text.support->limits.members && !address.is_unspecified() &&
        !control::parse_ipv4(control::to_string(embedded))) {
      diagnostics_.error(where,
                         who + " has an `address` that embeds none of IPv4, by which " +
                             text.engine + " would know it",
                         "number it as in \"2001:db8:64::10.1.1.9\"");
    }
  }

  std::vector<std::size_t> workers_of(const JobText& text) {
    std::vector<std::size_t> workers;
    std::map<Place, std::string> ports;
    for (const auto& [name, where] : text.hosts) {
      const auto at = host_index_.find(name);
      if (at == host_index_.end()) {
        diagnostics_.error(where, "no host `" + name + "`", guess(name));
        continue;
      }
      const auto& port = fabric_.topology.hosts[at->second].at;
      const auto added = ports.emplace(Place(port.switch_index, port.port), name);
      if (!added.second) {
        diagnostics_.error(where,
                           "`" + name + "` is behind the same port as `" + added.first->second +
                               "`, " + text_of(port),
                           one_worker_a_port);
      }
      workers.push_back(at->second);
    }
    return workers;
  }

  std::string guess(const std::string& name) const {
    std::vector<std::string_view> names;
    for (const auto& entry : host_index_) {
      names.push_back(entry.first);
    }
    const std::string near = nearest(name, names);
    return near.empty() ? "there are " + control::joined(names) : "did you mean `" + near + "`?";
  }

  std::string text_of(const SwitchPort& port) const {
    return fabric_.topology.switches[port.switch_index].name + ":" + port.port;
  }

  Diagnostics& diagnostics_;
  FabricFile fabric_;
  std::vector<LinkText> links_;
  std::vector<HostText> hosts_;
  std::vector<JobText> jobs_;
  std::map<std::string, std::size_t> switches_;
  std::map<std::string, std::size_t> host_index_;
  std::set<Place> linked_;
};

}  // namespace

LoadedFabric parse_fabric(std::string_view text, const std::string& name) {
  const auto document = control::parse_document(text, name);
  if (!document) {
    return tl::unexpected(document.error());
  }
  Diagnostics diagnostics(name);
  FabricFile fabric = FabricReader(diagnostics).read(*document);
  if (diagnostics.count() != 0) {
    return tl::unexpected(diagnostics.take());
  }
  fabric.name = name;
  for (control::ConfigError& place : fabric.job_places) {
    place.file = name;
  }
  return fabric;
}

LoadedFabric load_fabric(const std::string& path) {
  const auto text = control::read_file(path);
  return text ? parse_fabric(*text, path) : tl::unexpected(text.error());
}

}  // namespace tributary::controller
