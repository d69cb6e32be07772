// SPDX-License-Identifier: BSD-3-Clause
#include "control/loader.h"

#include "control/config_draft.h"
#include "control/protocol_section.h"
#include "control/toml_file.h"

namespace tributary::control {
namespace {

constexpr std::uint32_t config_version = 1;

void read_root(Reader& reader, ConfigDraft& out) {
  std::uint32_t version = 0;
  reader.require({"version", "switch"});
  reader.integer("version", version, {0u, 0xffffffffu});
  if (reader.has("version") && version != config_version) {
    reader.error("version", "configuration format is not one that this daemon reads",
                 "version = " + std::to_string(config_version));
  }
  reader.table("daemon", [&](Reader& child) { read_daemon(child, out.daemon); });
  reader.tables("handler", [&](Reader& child) { read_handler(child, out.daemon); });
  reader.tables("switch", [&](Reader& child) { read_switch(child, out.switches.emplace_back()); });
  const std::size_t errors_before = reader.errors();
  reader.tables("link", [&](Reader& child) { read_link(child, out.links.emplace_back()); });
  out.links_sound = reader.errors() == errors_before;
}

void check(ConfigDraft& draft, Diagnostics& diagnostics) {
  bool ports_sound = true;
  for (SwitchDraft& sw : draft.switches) {
    if (sw.sound) {
      for_each_on(sw.config.protocols, [&](const ProtocolSection& section, const std::any&) {
        if (section.check != nullptr) {
          section.check(sw, diagnostics);
        }
      });
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
  const auto document = parse_document(text, name);
  if (!document) {
    return tl::unexpected(document.error());
  }
  Diagnostics diagnostics(name);
  ConfigDraft draft;
  Reader reader(*document, "", diagnostics);
  read_root(reader, draft);
  reader.finish();
  check(draft, diagnostics);
  if (diagnostics.count() != 0) {
    return tl::unexpected(diagnostics.take());
  }
  return assemble(std::move(draft));
}

Loaded load_config(const std::string& path) {
  const auto text = read_file(path);
  return text ? parse_config(*text, path) : tl::unexpected(text.error());
}

}  // namespace tributary::control
