// SPDX-License-Identifier: BSD-3-Clause
#include "control/reference.h"

#include <span>
#include <vector>

#include "control/config_options.h"
#include "control/protocol_section.h"
#include "forwarding/class_queues.h"
#include "forwarding/port_counters.h"
#include "packet/fate.h"
#include "protocols/engines.h"

namespace tributary::control {
namespace {

void describe_switch(OptionTables& tables) {
  auto& table = add_table(tables, "[[switch]]");
  describe_options(switch_options, table);
  for (const auto* section : protocol_sections()) {
    table.rows.push_back(
        {shown_key(table.name, section->name, Form::table, false),
         std::string(section->help) + (section->needs_address ? "; needs `address`" : ""),
         "off",
         {},
         Apply::restart});
  }
}

void describe_port(OptionTables& tables) {
  auto& table = add_table(tables, "[[switch.port]]");
  describe_options(port_options, table);
  describe_options(learning_options, table);
  describe_options(vlan_options, table);
  describe_options(queue_options, table);
  describe_options(flow_options, table);
}

template <typename Figures>
std::string counters_text(const std::string& of, const Figures& figures) {
  std::string text = "\n## Counters of a " + of + "\n\n| counter | meaning |\n|---|---|\n";
  for (const auto& figure : figures) {
    text += "| `" + std::string(figure.name) + "` | " + std::string(figure.help) + " |\n";
  }
  return text;
}

std::string_view shown_of_cores(engine::Merge merge) {
  switch (merge) {
    case engine::Merge::sum:
      return "sum";
    case engine::Merge::maximum:
      return "highest";
    case engine::Merge::minimum:
      return "lowest";
  }
  return {};
}

// A tree belongs to one core, so that nothing of it is merged.
std::string figures_text(const engine::EngineKind& kind) {
  const std::string name(kind.protocol.name);
  std::string of_engine;
  std::string of_trees;
  for (const auto& figure : kind.figure_kinds()) {
    const auto start = "| `" + std::string(figure.name) + "` | " + std::string(figure.unit) + " | ";
    const auto end = std::string(figure.help) + " |\n";
    if (figure.is_of(engine::Of::engine)) {
      of_engine += start + std::string(shown_of_cores(figure.merge)) + " | " + end;
    }
    if (figure.is_of(engine::Of::tree)) {
      of_trees += start + end;
    }
  }
  auto text = "\n## Figures of " + name +
              "\n\n| figure | counts | of several cores | meaning |\n|---|---|---|---|\n" +
              of_engine;
  if (!of_trees.empty()) {
    text += "\n## Figures of a tree of " + name +
            "\n\n| figure | counts | meaning |\n|---|---|---|\n" + of_trees;
  }
  return text;
}

std::string reasons_text(const std::string& of, std::span<const DropText> reasons,
                         const std::string& prefix = "") {
  std::string text = "\n## drop reasons of " + of + "\n\n| reason | why |\n|---|---|\n";
  for (const auto& [name, why] : reasons) {
    text += "| `" + prefix + std::string(name) + "` | " + std::string(why) + " |\n";
  }
  return text;
}

std::string drop_reasons_text() {
  std::vector<DropText> of_ports;
  for (const auto& figure : forwarding::port_figures) {
    if (!figure.drop_reason.empty()) {
      of_ports.push_back({figure.drop_reason, figure.help});
    }
  }
  auto text = reasons_text("every switch", common_drop_reasons) + reasons_text("ports", of_ports);
  for (const auto* kind : protocols::engines()) {
    const std::string name(kind->protocol.name);
    text += reasons_text(name, kind->protocol.drop_reasons, name + "_");
  }
  return text;
}

}  // namespace

std::string reference_text() {
  OptionTables tables;
  describe_options(daemon_options, add_table(tables, "[daemon]"));
  describe_options(handler_options, add_table(tables, "[[handler]]"));
  describe_switch(tables);
  auto& selection = add_table(tables, "[switch.selection]");
  describe_options(policy_options, selection);
  describe_options(selection_options, selection);
  describe_options(bfd_options, add_table(tables, "[switch.bfd]"));
  describe_options(class_options, add_table(tables, "[[switch.class]]"));
  describe_options(vlan_interface_options, add_table(tables, "[[switch.vlan]]"));
  describe_options(route_options, add_table(tables, "[[switch.route]]"));
  describe_options(route6_options, add_table(tables, "[[switch.route6]]"));
  describe_options(fdb_options, add_table(tables, "[[switch.fdb]]"));
  describe_options(arp_options, add_table(tables, "[[switch.arp]]"));
  describe_options(neighbour6_options, add_table(tables, "[[switch.neighbour6]]"));
  describe_options(link_options, add_table(tables, "[[link]]"));
  describe_port(tables);
  describe_options(device_options, add_table(tables, "[[switch.port]], what it is attached to"));
  describe_options(impairment_options, add_table(tables, "[switch.port.impair]"));
  for (const auto* section : protocol_sections()) {
    section->describe(tables);
  }
  auto text = to_markdown(tables) + counters_text("port", forwarding::port_figures) +
              counters_text("traffic class", forwarding::class_figures);
  for (const auto* kind : protocols::engines()) {
    text += figures_text(*kind);
  }
  return text + drop_reasons_text();
}

}  // namespace tributary::control
