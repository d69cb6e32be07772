// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <any>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/config_draft.h"
#include "control/config_reader.h"
#include "control/options.h"
#include "control/tree_support.h"
#include "engine/settings.h"

namespace tributary::control {

// The configuration of a switch has to know this of one protocol. Each protocol's folder defines
// its own, `config_section`.
struct ProtocolSection {
  std::string_view name;  // of the table: [switch.canary]
  std::string_view help;  // one line for the reference
  // If true, what its engine sends has the switch's own address.
  bool needs_address = false;

  // Reads the table into out.config.protocols. What check() needs is kept in out.drafts.
  void (*read)(Reader& reader, SwitchDraft& out);
  // Looks up the ports that the table names, and finds what contradicts itself. It may be null.
  void (*check)(SwitchDraft& draft, Diagnostics& diagnostics) = nullptr;
  // Finds what contradicts itself on several switches. It may be null.
  void (*check_fabric)(const ConfigDraft& draft, Diagnostics& diagnostics) = nullptr;
  // Lists the settings of a switch on which the protocol is on, below `path`.
  void (*list)(SettingTexts& out, const std::string& path, const switching::SwitchConfig& config);
  // Adds its tables for the reference.
  void (*describe)(OptionTables& out);

  // Returns how many packets its engine may keep beside those of daemon.packets. Null: none.
  std::uint32_t (*packets)(const std::any& settings) = nullptr;
  // Returns how many frames a port may be sent at once by its hosts. Null: no more than is usual.
  std::uint64_t (*frames_at_once)(const std::any& settings) = nullptr;
  // If null, it takes no trees from a controller.
  const TreeSupport* trees = nullptr;
};

// Returns those of all protocols, by their rows in protocols/list.h.
std::span<const ProtocolSection* const> protocol_sections();

// Calls `use` with the section and the settings of each protocol that is on.
template <typename Use>
void for_each_on(const engine::Settings& protocols, Use use) {
  const auto sections = protocol_sections();
  for (std::size_t row = 0; row < sections.size(); ++row) {
    if (const auto& settings = protocols.of(row); settings.has_value()) {
      use(*sections[row], settings);
    }
  }
}

// Calls `use` with the section of each protocol that is on and takes trees.
template <typename Use>
void for_each_with_trees(const switching::SwitchConfig& config, Use use) {
  for_each_on(config.protocols, [&](const ProtocolSection& section, const std::any&) {
    if (section.trees != nullptr) {
      use(section);
    }
  });
}

// Returns that protocol's, if it takes trees; else null.
const ProtocolSection* tree_section(std::string_view name);
// Returns the first of those that take trees: a tree has it whose engine is not said.
std::string_view first_tree_engine();

// Returns names as in "h1, h2".
std::string ports_text(const std::vector<PortIndex>& ports, const switching::SwitchConfig& config);

}  // namespace tributary::control
