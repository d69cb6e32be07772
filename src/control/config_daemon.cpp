// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "control/config_draft.h"

namespace tributary::control {
namespace {

constexpr unsigned cpu_max = 1023;

void read_cores(Reader& reader, std::vector<unsigned>& cores) {
  const toml::node* node = reader.source().get("cores");
  if (node != nullptr && node->is_string()) {
    bool automatic = false;
    reader.choice("cores", automatic, {{"auto", true}});
    if (automatic) {
      cores.clear();
    }
    return;
  }
  reader.integers("cores", cores, {0, cpu_max});
  const std::vector<unsigned> given = cores;
  std::sort(cores.begin(), cores.end());
  if (cores.empty()) {
    reader.error("cores", "`cores` names no CPU", "write cores = \"auto\" or, say, [0, 1]");
  } else if (std::adjacent_find(cores.begin(), cores.end()) != cores.end()) {
    reader.error("cores", "`cores` names a CPU twice");
  }
  cores = given;
}

void read_state(Reader& reader, DaemonConfig& out) {
  reader.know("state");
  if (!reader.has("state")) {
    return;
  }
  out.state.emplace();
  if (reader.is_text("state", "")) {
    return;  // off
  }
  reader.text("state", *out.state);
}

}  // namespace

Parsed<PortReference> parse_port_reference(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    return tl::unexpected(Complaint{"`" + std::string(text).substr(0, 64) + "` names no port",
                                    "write it as \"switch:port\""});
  }
  return PortReference{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

void read_daemon(Reader& reader, DaemonConfig& out) {
  constexpr std::size_t unix_path_max = 107;  // sun_path of unix(7), less the terminating zero
  read_cores(reader, out.cores);
  reader.choice("idle", out.idle, {{"adaptive", IdlePolicy::adaptive}, {"poll", IdlePolicy::poll}});
  reader.choice(
      "hugepages", out.hugepages,
      {{"auto", Hugepages::automatic}, {"never", Hugepages::never}, {"always", Hugepages::always}});
  reader.integer("packets", out.packets, {1024u, 4u * 1024 * 1024});
  reader.text("control", out.control_socket, unix_path_max);
  read_state(reader, out);
  reader.text("control_group", out.control_group, 32);
  reader.choice<std::string>("log_level", out.log_level,
                             {{"trace", "trace"},
                              {"debug", "debug"},
                              {"info", "info"},
                              {"warning", "warning"},
                              {"error", "error"},
                              {"critical", "critical"},
                              {"off", "off"}});
}

void read_link(Reader& reader, LinkDraft& out) {
  out.source = &reader.source();
  reader.require({"a", "b"});
  reader.parsed("a", out.a, parse_port_reference);
  reader.parsed("b", out.b, parse_port_reference);
}

}  // namespace tributary::control
