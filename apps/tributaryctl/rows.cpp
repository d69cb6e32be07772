// SPDX-License-Identifier: BSD-3-Clause
#include "rows.h"

#include <cmath>
#include <string>
#include <vector>

#include "control/join.h"
#include "output.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;

std::string joined(const json& list) {
  return list.empty() ? "-" : control::join(list, plain, ",");
}

std::string hops(const json& list) {
  const auto text = [](const json& hop) {
    const json next = hop.value("address", json(nullptr));
    const std::string address = next.is_null() ? std::string() : plain(next) + " ";
    const double share = hop.value("share", 1.0);
    return address + "on " + hop.value("port", "?") + (hop.value("up", false) ? "" : " (down)") +
           (share < 1 ? " (keeps " + std::to_string(std::lround(share * 100)) + "%)" : "");
  };
  return list.empty() ? "-" : control::join(list, text);
}

// The daemon may be older or newer than this program: what is missing is shown as missing.
std::string shown(const json& value, Show show) {
  const double number = value.is_number() ? value.get<double>() : 0;
  switch (show) {
    case Show::flag:
      return value.is_boolean() ? (value == true ? "yes" : "no") : "-";
    case Show::state:
      return value == true ? "up" : "down";
    case Show::bytes:
      return bytes_for_people(number);
    case Show::known_bytes:
      return value.is_number() ? bytes_for_people(number) : plain(value);
    case Show::rate:
      return number == 0 ? "-" : rate_for_people(number);
    case Show::age:
      return value.is_number() ? seconds_for_people(number) : plain(value);
    case Show::list:
      return value.is_array() ? joined(value) : plain(value);
    case Show::known_list:
      return value.is_array() ? joined(value) : "unknown";
    case Show::hops:
      return value.is_array() ? hops(value) : plain(value);
    case Show::parent:
      return value.is_null() ? root_parent : plain(value);
    case Show::plain:
      break;
  }
  return plain(value);
}

}  // namespace

std::string plain(const json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_null() ? "-" : value.dump();
}

void print_rows(const json& rows, std::span<const Column> columns) {
  std::vector<Heading> headings;
  for (const Column& column : columns) {
    headings.push_back({column.title, column.right});
  }
  std::vector<Cells> cells;
  for (const json& row : rows) {
    Cells& line = cells.emplace_back();
    for (const Column& column : columns) {
      line.push_back(
          shown(row.value(json::json_pointer(column.pointer), json(nullptr)), column.show));
    }
  }
  print_table(headings, cells);
}

json rows_of(const json& result, const std::string& switch_name) {
  json rows = json::array();
  if (!result.is_object() || !result.contains("rows") || !result["rows"].is_array()) {
    return rows;
  }
  for (const json& row : result["rows"]) {
    if (row.is_object() && (switch_name.empty() || row.value("switch", "") == switch_name)) {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace tributary::ctl
