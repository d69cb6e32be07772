// SPDX-License-Identifier: BSD-3-Clause
#include "control/options.h"

namespace tributary::control {
namespace {

constexpr std::string_view reloads[] = {"yes", "not upwards", "no"};  // by Apply

}  // namespace

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

std::string as_written(std::string_view value, Form form) {
  if (form == Form::quoted) {
    return as_quoted(value);
  }
  return form == Form::bracketed ? "`[" + std::string(value) + "]`" : std::string(value);
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
      text += "| " + std::string(reloads[static_cast<std::size_t>(row.apply)]) + " |\n";
    }
  }
  return text;
}

}  // namespace tributary::control
