// SPDX-License-Identifier: BSD-3-Clause
// Here [daemon] and [[link]] are read.
#include <algorithm>
#include <array>

#include "control/config_draft.h"
#include "control/config_options.h"
#include "control/join.h"
#include "control/option_kinds.h"
#include "control/socket_file.h"
#include "control/tree_store.h"

namespace tributary::control {
namespace {

constexpr unsigned cpu_max = 1023;
constexpr std::size_t group_bytes_max = 32;

constexpr Word<bool> automatic_word[] = {{"auto", true}};
constexpr Word<IdlePolicy> idle_words[] = {{"adaptive", IdlePolicy::adaptive},
                                           {"poll", IdlePolicy::poll}};
constexpr Word<Hugepages> hugepages_words[] = {
    {"auto", Hugepages::automatic}, {"never", Hugepages::never}, {"always", Hugepages::always}};
constexpr auto level_words = [] {
  std::array<Word<std::string_view>, log_levels.size()> words;
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] = {log_levels[i], log_levels[i]};
  }
  return words;
}();

void read_cores(Reader& reader, DaemonConfig& out) {
  auto& cores = out.cores;
  const toml::node* node = reader.source().get("cores");
  if (node != nullptr && node->is_string()) {
    bool automatic = false;
    reader.choice("cores", automatic, automatic_word);
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

std::string cores_text(const DaemonConfig& config) {
  return config.cores.empty() ? "auto" : join(config.cores, as_text);
}

void read_state(Reader& reader, DaemonConfig& out) {
  reader.know("state");
  if (!reader.has("state")) {
    return;
  }
  out.state.emplace();
  if (reader.is_text("state", "")) {
    return;  // nothing is kept
  }
  reader.text("state", *out.state, path_bytes_max);
}

std::string state_text(const DaemonConfig& config) {
  const auto path = state_path(config);
  return path.empty() ? "off" : path;
}

constexpr Option<DaemonConfig> options[] = {
    option::custom<DaemonConfig, read_cores, cores_text>(
        "cores", Apply::restart, "a list of 0 to 1023, each once; `\"auto\"`",
        "CPU numbers of the packet cores, or `\"auto\"`: of the CPUs that the daemon may run on, "
        "one thread of each physical core, on the NUMA nodes of the cards, one core left free "
        "where there are more than 2, at most 8 and no more than the ports have queues. The log "
        "says which, and why")
        .as(Form::bracketed),
    option::words<&DaemonConfig::idle, idle_words>(
        "idle", Apply::restart,
        "`\"adaptive\"` sleeps, ramping up to a millisecond, when nothing comes, but not while it "
        "had work for half of the last 10 ms, and sooner where others want its CPU; where all "
        "ports "
        "are interfaces of the kernel without flow control it then waits until a frame comes; "
        "`\"poll\"` never sleeps"),
    option::words<&DaemonConfig::hugepages, hugepages_words>(
        "hugepages", Apply::restart,
        "`\"auto\"` uses them if the host has some, `\"always\"` insists"),
    option::integer<&DaemonConfig::packets>("packets", Apply::restart, {1024, 4u * 1024 * 1024},
                                            "buffers shared by all ports"),
    option::text<&DaemonConfig::control_socket>("control", Apply::restart, unix_path_max,
                                                "path of the control socket"),
    option::text<&DaemonConfig::control_group>(
        "control_group", Apply::restart, group_bytes_max,
        "group that may use the socket (mode 0660); none: that of the process")
        .unset_is("none"),
    option::custom<DaemonConfig, read_state, state_text>(
        "state", Apply::restart, "up to 255 bytes",
        "file in which trees and seeds that controllers give while the daemon runs are kept for "
        "its next start, beside the control socket unless it is given; `\"\"`: nowhere")
        .as(Form::quoted),
    option::words<&DaemonConfig::log_level, level_words>(
        "log_level", Apply::reload,
        "of the log on standard error. Nothing waits for who reads it: beyond 64 KiB messages are "
        "dropped, a line says how many are missing, and `tributaryctl status` counts them"),
    option::text<&DaemonConfig::handler_directory>(
        "handler_directory", Apply::restart, path_bytes_max,
        "the shared objects in it may be loaded as [handlers](handlers.md), with all rights of the "
        "daemon. They, it, and what is above it have to belong to root or the daemon's user and "
        "not to be writable by others")
        .unset_is("none"),
};

constexpr std::string_view link_ends = "`\"switch:port\"`, of two different switches";
constexpr Option<LinkDraft> link_table[] = {
    option::by_hand<LinkDraft>("a", Apply::restart, link_ends, "one end").required(),
    option::by_hand<LinkDraft>("b", Apply::restart, link_ends, "the other end").required(),
};

}  // namespace

constinit const Options<DaemonConfig> daemon_options = options;
constinit const Options<LinkDraft> link_options = link_table;

Parsed<PortReference> parse_port_reference(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == text.size()) {
    return tl::unexpected(Complaint{"`" + std::string(text).substr(0, 64) + "` names no port",
                                    "write it as \"switch:port\""});
  }
  return PortReference{std::string(text.substr(0, colon)), std::string(text.substr(colon + 1))};
}

void read_daemon(Reader& reader, DaemonConfig& out) {
  read_options(reader, daemon_options, out);
  if (!out.handler_directory.empty() && out.handler_directory.front() != '/') {
    reader.error("handler_directory", "`handler_directory` is no absolute path",
                 "begin it with `/`");
  }
}

void read_link(Reader& reader, LinkDraft& out) {
  out.source = &reader.source();
  read_options(reader, link_options, out);
  reader.parsed("a", out.a, parse_port_reference);
  reader.parsed("b", out.b, parse_port_reference);
}

}  // namespace tributary::control
