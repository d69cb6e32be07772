// SPDX-License-Identifier: BSD-3-Clause
#include "reference.h"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

namespace tributary::apps {
namespace {

using Cells = std::vector<std::string>;
using Commands = std::vector<const CLI::App*>;

// A Row is alike for some commands.
struct Row {
  Commands of;
  Cells cells;
};

struct Table {
  std::string name;
  Cells head;
  Commands of;  // of all rows
  std::vector<Row> rows;
};

void insert(Commands& commands, const CLI::App& command) {
  if (std::ranges::find(commands, &command) == commands.end()) {
    commands.push_back(&command);
  }
}

void add_row(Table& table, const CLI::App& command, Cells cells) {
  auto row = std::ranges::find(table.rows, cells, &Row::cells);
  if (row == table.rows.end()) {
    row = table.rows.insert(row, Row{{}, std::move(cells)});
  }
  insert(row->of, command);
  insert(table.of, command);
}

// Returns the commands below `app`, each before those that are below itself.
Commands commands_of(const CLI::App& app) {
  Commands all;
  for (const CLI::App* const command : app.get_subcommands({})) {
    all.push_back(command);
    const auto below = commands_of(*command);
    all.insert(all.end(), below.begin(), below.end());
  }
  return all;
}

std::string words_of(const CLI::App& command) {
  const CLI::App& parent = *command.get_parent();
  return (parent.get_parent() == nullptr ? "" : words_of(parent) + " ") + command.get_name();
}

std::string joined(const Cells& texts) {
  return CLI::detail::join(texts, ", ");
}

std::string as_code(const std::string& text) {
  return "`" + text + "`";
}

// Returns the names of the commands below `app` that are among `of`. One that is nothing without
// its own commands stands for these if all are among them.
Cells names_of(const Commands& of, const CLI::App& app) {
  const auto is_meant = [&of](const CLI::App* each) {
    return std::ranges::find(of, each) != of.end() || !each->get_subcommands({}).empty();
  };
  Cells names;
  for (const CLI::App* const command : app.get_subcommands({})) {
    const bool itself = std::ranges::find(of, command) != of.end();
    const bool stands = command->get_require_subcommand_min() > 0 &&
                        std::ranges::all_of(commands_of(*command), is_meant);
    if (itself || stands) {
      names.push_back(as_code(words_of(*command)));
    }
    if (!stands) {
      const auto more = names_of(of, *command);
      names.insert(names.end(), more.begin(), more.end());
    }
  }
  return names;
}

// CLI11 says "TYPE:CHECK", as in "UINT:UINT in [1 - 64]" or "TEXT:{auto,never,always}". Returns the
// type, unless it is one of CLI11's own. A flag has none.
std::string value_name_of(const CLI::Option& option) {
  static constexpr std::string_view own[] = {"", "TEXT", "INT", "UINT", "FLOAT"};
  const std::string type = CLI::detail::split(option.get_type_name(), ':').front();
  return std::ranges::find(own, type) != std::end(own) ? "" : " " + type;
}

std::string range_of(const CLI::Option& option) {
  const std::string text = option.get_type_name();
  const std::string check = text.substr(std::min(text.find(':'), text.size()));
  if (check.starts_with(":{")) {
    Cells words = CLI::detail::split(check.substr(2, check.size() - 3), ',');
    std::ranges::transform(words, words.begin(), as_code);
    return joined(words);
  }
  const auto first = check.find('[');
  const auto dash = check.find(" - ");
  if (first != std::string::npos && dash != std::string::npos) {
    return check.substr(first + 1, dash - first - 1) + " to " +
           check.substr(dash + 3, check.size() - dash - 4);
  }
  return check == ":POSITIVE" ? "above 0" : "";
}

std::string name_of(const CLI::Option& option) {
  if (option.get_positional()) {
    return as_code(option.get_name(true)) + (option.get_required() ? " *" : "");
  }
  Cells names;
  for (const std::string& name : option.get_snames()) {
    names.push_back(as_code("-" + name));
  }
  for (const std::string& name : option.get_lnames()) {
    names.push_back(as_code("--" + name + value_name_of(option)));
  }
  return joined(names) + (option.get_required() ? " *" : "");
}

std::string default_of(const CLI::Option& option) {
  std::string text = option.get_default_str();
  if (text.starts_with('[') && text.ends_with(']')) {  // a list
    text = text.substr(1, text.size() - 2);
  }
  return option.get_envname().empty() ? text : text + ", or `$" + option.get_envname() + "`";
}

Cells cells_of(const CLI::Option& option) {
  return {name_of(option), option.get_description(), default_of(option), range_of(option)};
}

std::string usage_of(const CLI::App& command) {
  std::string usage = words_of(command);
  for (const CLI::Option* const option : command.get_options({})) {
    if (option->get_positional()) {
      const auto name = option->get_name(true);
      usage += option->get_required() ? " " + name : " [" + name + "]";
    }
  }
  return as_code(usage);
}

std::string text_of(const Table& table) {
  std::string text = "## " + table.name + "\n\n" + table_line(table.head) + "|";
  for (std::size_t i = 0; i < table.head.size(); ++i) {
    text += "---|";
  }
  text += "\n";
  for (const Row& row : table.rows) {
    text += table_line(row.cells);
  }
  return text;
}

Table commands_table(const CLI::App& app) {
  Table table{app.get_name() + ": commands", {"command", "what it does"}, {}, {}};
  for (const CLI::App* const command : commands_of(app)) {
    add_row(table, *command, {command->get_description()});
  }
  for (Row& row : table.rows) {
    Cells usages(row.of.size());
    std::ranges::transform(row.of, usages.begin(),
                           [](const auto* each) { return usage_of(*each); });
    row.cells.insert(row.cells.begin(), joined(usages));
  }
  return table;
}

Table options_table(const CLI::App& app) {
  Table table{app.get_name() + ": options", {"option", "meaning", "default", "range"}, {}, {}};
  for (const CLI::Option* const option : app.get_options({})) {
    add_row(table, app, cells_of(*option));
  }
  return table;
}

Table& table_of_group(std::vector<Table>& tables, const CLI::App& app, const std::string& group) {
  const auto name = app.get_name() + ": " + (group == "Options" ? "options of commands" : group);
  const auto table = std::ranges::find(tables, name, &Table::name);
  if (table != tables.end()) {
    return *table;
  }
  tables.push_back({name, {"option", "meaning", "default", "range", "only of"}, {}, {}});
  return tables.back();
}

std::vector<Table> tables_of_groups(const CLI::App& app) {
  std::vector<Table> tables;
  for (const CLI::App* const command : commands_of(app)) {
    for (const CLI::Option* const option : command->get_options({})) {
      if (option != command->get_help_ptr() && option != command->get_help_all_ptr()) {
        add_row(table_of_group(tables, app, option->get_group()), *command, cells_of(*option));
      }
    }
  }
  for (Table& table : tables) {
    for (Row& row : table.rows) {
      const bool all = row.of.size() == table.of.size();
      row.cells.push_back(all ? "" : joined(names_of(row.of, app)));
    }
  }
  return tables;
}

}  // namespace

std::string table_line(std::span<const std::string> cells) {
  std::string line = "|";
  for (const std::string& cell : cells) {
    line += cell.empty() ? " |" : " " + cell + " |";
  }
  return line + "\n";
}

std::string reference_of(const CLI::App& app) {
  std::string text = text_of(commands_table(app)) + "\n" + text_of(options_table(app));
  for (const Table& table : tables_of_groups(app)) {
    text += "\n" + text_of(table);
  }
  return text;
}

void add_reference(CLI::App& app, const std::string& what, std::function<std::string()> text) {
  app.add_flag_callback(
      "--reference",
      [text = std::move(text)] {
        std::fputs(text().c_str(), stdout);
        throw CLI::Success();
      },
      "Print " + what + ", as tables, and exit");
}

}  // namespace tributary::apps
