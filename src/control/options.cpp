// SPDX-License-Identifier: BSD-3-Clause
#include "control/options.h"

#include <utility>

namespace tributary::control {

OptionTable& add_table(OptionTables& tables, std::string name) {
  return tables.emplace_back(OptionTable{std::move(name), {}});
}

std::string shown_key(std::string_view table, std::string_view key, Form form, bool required) {
  std::string shown(key);
  if (form == Form::table || form == Form::tables) {
    const auto first = table.find_first_not_of('[');
    const auto path = table.substr(first, table.find_last_not_of(']') + 1 - first);
    shown = "[" + std::string(path) + "." + shown + "]";
    shown = form == Form::tables ? "[" + shown + "]" : shown;
  }
  return "`" + shown + "`" + (required ? " *" : "");
}

std::string as_quoted(std::string_view value) {
  return "`\"" + std::string(value) + "\"`";
}

std::string to_markdown(const OptionTables& tables) {
  std::string text;
  for (const auto& table : tables) {
    text += (text.empty() ? "## " : "\n## ") + table.name +
            "\n\n| key | meaning | default | range | reload |\n|---|---|---|---|---|\n";
    for (const auto& row : table.rows) {
      for (const auto& cell : {row.key, row.help, row.fallback, row.range}) {
        text += cell.empty() ? "| " : "| " + cell + " ";
      }
      text += row.apply == Apply::reload ? "| yes |\n" : "| no |\n";
    }
  }
  return text;
}

}  // namespace tributary::control
