// SPDX-License-Identifier: BSD-3-Clause
#include "control/loader.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "control/config_depth.h"
#include "control/config_draft.h"

namespace tributary::control {
namespace {

constexpr std::uint32_t config_version = 1;
constexpr std::size_t file_bytes_max = 4 * 1024 * 1024;

void read_root(Reader& reader, ConfigDraft& out) {
  std::uint32_t version = 0;
  reader.require({"version", "switch"});
  reader.integer("version", version, {0u, 0xffffffffu});
  if (reader.has("version") && version != config_version) {
    reader.error("version", "configuration format is not one that this daemon reads",
                 "version = " + std::to_string(config_version));
  }
  reader.table("daemon", [&](Reader& child) { read_daemon(child, out.daemon); });
  reader.tables("switch", [&](Reader& child) { read_switch(child, out.switches.emplace_back()); });
  const std::size_t errors_before = reader.errors();
  reader.tables("link", [&](Reader& child) { read_link(child, out.links.emplace_back()); });
  out.links_sound = reader.errors() == errors_before;
}

void check(ConfigDraft& draft, Diagnostics& diagnostics) {
  bool ports_sound = true;
  for (SwitchDraft& sw : draft.switches) {
    if (sw.sound) {
      resolve_canary_jobs(sw, diagnostics);
      resolve_panama_trees(sw, diagnostics);
    }
    check_switch(sw, diagnostics);
    ports_sound = ports_sound && sw.sound;
  }
  check_fabric(draft, diagnostics);
  if (ports_sound) {  // else a link may only seem to lead nowhere
    connect_links(draft, diagnostics);
  }
}

DaemonConfig assemble(ConfigDraft draft) {
  DaemonConfig config = std::move(draft.daemon);
  for (SwitchDraft& sw : draft.switches) {
    SwitchSection& section = config.switches.emplace_back();
    section.config = std::move(sw.config);
    for (auto& device : sw.devices) {
      section.devices.push_back(std::move(*device));
    }
  }
  return config;
}

ConfigErrors whole_file(const std::string& name, std::string message, std::string hint = {}) {
  return {{name, 0, 0, std::move(message), std::move(hint)}};
}

}  // namespace

std::string to_string(const ConfigError& error) {
  std::string text = error.file + ":";
  if (error.line != 0) {
    text += std::to_string(error.line) + ":" + std::to_string(error.column) + ":";
  }
  text += " " + error.message;
  return error.hint.empty() ? text : text + " (" + error.hint + ")";
}

std::string to_string(const ConfigErrors& errors) {
  std::string text;
  for (const ConfigError& error : errors) {
    text += to_string(error) + "\n";
  }
  return text;
}

Loaded parse_config(std::string_view text, const std::string& name) {
  if (text.size() > file_bytes_max) {
    return tl::unexpected(whole_file(name, "file is larger than " + size_text(file_bytes_max)));
  }
  if (nested_too_deep(text)) {
    return tl::unexpected(whole_file(name, "brackets or dotted keys are nested too deep"));
  }
  Diagnostics diagnostics(name);
  toml::table document;
  try {
    document = toml::parse(text, std::string(name));
  } catch (const toml::parse_error& error) {
    diagnostics.error(error.source().begin, std::string(error.description()));
    return tl::unexpected(diagnostics.take());
  }
  ConfigDraft draft;
  Reader reader(document, "", diagnostics);
  read_root(reader, draft);
  reader.finish();
  check(draft, diagnostics);
  if (diagnostics.count() != 0) {
    return tl::unexpected(diagnostics.take());
  }
  return assemble(std::move(draft));
}

Loaded load_config(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             std::fclose);
  if (!file) {
    return tl::unexpected(whole_file(path, std::strerror(errno)));
  }
  std::string text(file_bytes_max + 1, '\0');
  errno = 0;
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) {
    return tl::unexpected(whole_file(path, std::strerror(errno)));
  }
  return parse_config(text, path);
}

}  // namespace tributary::control
