// SPDX-License-Identifier: BSD-3-Clause
#include "lists.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "control/words.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;

constexpr std::uint64_t switches_max = 10000;

constexpr Column switch_columns[] = {
    {"SWITCH", "/switch"},
    {"ID", "/id", Show::plain, true},
    {"ADDRESS", "/address"},
    {"PORTS", "/ports", Show::plain, true},
    {"ROUTES", "/routes", Show::plain, true},
    {"FDB", "/fdb_entries", Show::plain, true},
    {"ARP", "/arp_entries", Show::plain, true},
    {"RECEIVED", "/ledger/received_packets_total", Show::plain, true},
    {"DROPPED", "/ledger/dropped_packets_total", Show::plain, true},
    {"ENGINES", "/engines", Show::list},
};
constexpr Column port_columns[] = {
    {"SWITCH", "/switch"},
    {"PORT", "/port"},
    {"STATE", "/up", Show::state},
    {"ADDRESS", "/address"},
    {"MTU", "/mtu_bytes", Show::plain, true},
    {"RATE", "/rate_bits_per_second", Show::rate, true},
    {"RX-PACKETS", "/counters/rx_packets_total", Show::plain, true},
    {"TX-PACKETS", "/counters/tx_packets_total", Show::plain, true},
    {"TAIL-DROPS", "/counters/queue_tail_dropped_packets_total", Show::plain, true},
    {"ECN-MARKS", "/counters/queue_ecn_marked_packets_total", Show::plain, true},
    {"QUEUED", "/queue_bytes", Show::bytes, true},
    {"CHARGED", "/charged_bytes", Show::bytes, true},
    {"PAUSES-RX", "/counters/rx_pause_packets_total", Show::plain, true},
    {"PAUSES-TX", "/counters/tx_pause_packets_total", Show::plain, true},
    {"PAUSED", "/counters/paused_seconds_total", Show::age, true},
    {"CPU", "/cpu", Show::plain, true},
    {"DEVICE", "/device"},
};
constexpr Column route_columns[] = {
    {"SWITCH", "/switch"},
    {"PREFIX", "/prefix"},
    {"CONNECTED", "/connected", Show::flag},
    {"NEXT-HOPS", "/next_hops", Show::hops},
    {"ORDINARY", "/selection/ordinary"},
    {"REDUCTION", "/selection/reduction"},
    {"EVADED", "/selection/evaded_packets_total", Show::plain, true},
    {"FLOWLETS", "/selection/flowlets_total", Show::plain, true},
    {"MOVED", "/selection/flowlets_moved_total", Show::plain, true},
};
constexpr Column bfd_columns[] = {
    {"SWITCH", "/switch"},
    {"NEIGHBOUR", "/neighbour"},
    {"PORT", "/port"},
    {"IN-USE", "/alive", Show::flag},
    {"STATE", "/state"},
    {"REMOTE", "/remote_state"},
    {"INTERVAL", "/transmit_interval_seconds", Show::age, true},
    {"DETECTION", "/detection_time_seconds", Show::age, true},
    {"RECEIVED", "/received_packets_total", Show::plain, true},
    {"SENT", "/sent_packets_total", Show::plain, true},
    {"FAILURES", "/failures_total", Show::plain, true},
};
constexpr Column fdb_columns[] = {
    {"SWITCH", "/switch"},
    {"MAC", "/mac"},
    {"PORT", "/port"},
    {"STATIC", "/static", Show::flag},
    {"AGE", "/age_seconds", Show::age, true},
};
constexpr Column arp_columns[] = {
    {"SWITCH", "/switch"}, {"ADDRESS", "/address"}, {"MAC", "/mac"},
    {"PORT", "/port"},     {"STATE", "/state"},     {"AGE", "/age_seconds", Show::age, true},
};
constexpr Column engine_columns[] = {
    {"SWITCH", "/switch"},
    {"ENGINE", "/engine"},
    {"FIGURE", "/figure"},
    {"VALUE", "/value", Show::plain, true},
};
constexpr Column job_columns[] = {
    {"SWITCH", "/switch"},
    {"ENGINE", "/engine"},
    {"JOB", "/job", Show::plain, true},
    {"CONTRIBUTIONS", "/contributions_total", Show::plain, true},
    {"RESULTS", "/results_total", Show::plain, true},
    {"BYPASSED", "/bypassed_total", Show::plain, true},
    {"DESCRIPTORS", "/descriptors", Show::plain, true},
    {"HIGH-WATER", "/descriptors_high_water", Show::plain, true},
    {"TIMEOUT", "/timeout_seconds", Show::age, true},
};
constexpr Column descriptor_columns[] = {
    {"SWITCH", "/switch"},
    {"JOB", "/job", Show::plain, true},
    {"BLOCK", "/id", Show::plain, true},
    {"COUNTER", "/counter", Show::plain, true},
    {"HOSTS", "/hosts", Show::plain, true},
    {"SENT", "/sent", Show::flag},
    {"AGE", "/age_seconds", Show::age, true},
    {"LEADER", "/leader"},
    {"CHILDREN-PORTS", "/children_ports", Show::list},
};
constexpr Column stalled_columns[] = {
    {"SWITCH", "/switch"},
    {"JOB", "/job", Show::plain, true},
    {"BLOCK", "/block", Show::plain, true},
    {"ATTEMPT", "/attempt", Show::plain, true},
    {"LEADER", "/leader"},
    {"WAITING", "/waiting_seconds", Show::age, true},
    {"CONTRIBUTIONS", "/contributions", Show::plain, true},
    {"HOSTS", "/hosts", Show::plain, true},
    {"MISSING-RANKS", "/missing_ranks", Show::known_list},
};
constexpr Column drop_columns[] = {
    {"SCOPE", "/scope"},
    {"WHERE", "/where"},
    {"REASON", "/reason"},
    {"PACKETS", "/packets_total", Show::plain, true},
};
constexpr Column counter_columns[] = {
    {"SWITCH", "/switch"},
    {"RECEIVED", "/received_packets_total", Show::plain, true},
    {"FORWARDED", "/forwarded_packets_total", Show::plain, true},
    {"ABSORBED", "/absorbed_packets_total", Show::plain, true},
    {"DROPPED", "/dropped_packets_total", Show::plain, true},
    {"ORIGINATED", "/originated_packets_total", Show::plain, true},
    {"SENT", "/sent_packets_total", Show::plain, true},
    {"LOST", "/lost_packets_total", Show::plain, true},
    {"BALANCED", "/balanced", Show::flag},
};

constexpr Column tree_columns[] = {
    {"SWITCH", "/switch"},
    {"JOB", "/job", Show::plain, true},
    {"TREE", "/tree", Show::plain, true},
    {"GROUP", "/group"},
    {"CHILDREN", "/children", Show::list},
    {"PARENT", "/parent"},
    {"WORKERS-BELOW", "/workers_below", Show::plain, true},
    {"WORKERS", "/workers", Show::plain, true},
    {"QUORUM", "/quorum", Show::plain, true},
    {"ORIGIN", "/origin"},
};

constexpr ListCommand commands[] = {
    {"switch", "Logical switches", "switch.list", switch_columns},
    {"route", "Routes and their next hops", "route.list", route_columns},
    {"bfd", "Sessions with next hops", "bfd.list", bfd_columns},
    {"fdb", "Stations that the bridges know", "fdb.list", fdb_columns},
    {"arp", "Neighbours", "arp.list", arp_columns},
    {"job", "Jobs that the engines have seen", "job.list", job_columns},
    {"descriptor", "Blocks that are held now", "descriptor.list", descriptor_columns},
    {"tree", "Aggregation trees; `tree remove` takes a job's away", "tree.list", tree_columns},
    {"port", "Ports; `port up` and `port down` set their state", "port.list", port_columns},
};

std::string plain(const json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  return value.is_null() ? "-" : value.dump();
}

std::string joined(const json& list) {
  std::string text;
  for (const json& item : list) {
    text += (text.empty() ? "" : ",") + plain(item);
  }
  return text.empty() ? "-" : text;
}

std::string hops(const json& list) {
  std::string text;
  for (const json& hop : list) {
    const json next = hop.value("address", json(nullptr));
    const std::string address = next.is_null() ? std::string() : plain(next) + " ";
    text += (text.empty() ? "" : ", ") + address + "on " + hop.value("port", "?") +
            (hop.value("up", false) ? "" : " (down)");
  }
  return text.empty() ? "-" : text;
}

// The daemon may be older or newer than this program: what is missing is shown as missing.
std::string shown(const json& value, Show show) {
  const double number = value.is_number() ? value.get<double>() : 0;
  switch (show) {
    case Show::flag:
      return value == true ? "yes" : "no";
    case Show::state:
      return value == true ? "up" : "down";
    case Show::bytes:
      return bytes_for_people(number);
    case Show::rate:
      return number == 0 ? "-" : rate_for_people(number);
    case Show::age:
      return seconds_for_people(number);
    case Show::list:
      return value.is_array() ? joined(value) : plain(value);
    case Show::known_list:
      return value.is_array() ? joined(value) : "unknown";
    case Show::hops:
      return value.is_array() ? hops(value) : plain(value);
    case Show::plain:
      break;
  }
  return plain(value);
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

// The rows of a result, without those of other switches.
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

tl::expected<void, ExitCode> check_switch(const Options& options, const std::string& name) {
  const auto switches = call_daemon(options, "switch.list", {{"limit", switches_max}});
  if (!switches) {
    return tl::unexpected(report(options, switches.error()));
  }
  std::vector<std::string> names;
  for (const json& row : rows_of(*switches, {})) {
    names.push_back(row.value("switch", ""));
  }
  if (std::find(names.begin(), names.end(), name) != names.end()) {
    return {};
  }
  return tl::unexpected(report(
      options, ExitCode::failed, "no_switch",
      "no switch `" + name + "`; there are " + control::joined({names.begin(), names.end()})));
}

// What a daemon answered, and the rows of it that were asked for.
struct Listing {
  json result;
  json rows;
};

// None of a switch that there is not: an empty list would say that all is well with it.
tl::expected<Listing, ExitCode> fetch(const Options& options, const std::string& method,
                                      const ListOptions& list) {
  auto result = call_daemon(options, method, {{"limit", list.limit}});
  if (!result) {
    return tl::unexpected(report(options, result.error()));
  }
  json rows = rows_of(*result, list.switch_name);
  if (rows.empty() && !list.switch_name.empty()) {
    if (const auto known = check_switch(options, list.switch_name); !known) {
      return tl::unexpected(known.error());
    }
  }
  return Listing{std::move(*result), std::move(rows)};
}

ExitCode print_list(const Options& options, const Listing& listing,
                    std::span<const Column> columns) {
  if (options.json) {
    print_json(listing.rows);
    return ExitCode::ok;
  }
  print_rows(listing.rows, columns);
  const auto total = listing.result.value("rows_total", std::uint64_t{0});
  if (const std::size_t got = listing.result["rows"].size(); got < total) {
    std::printf("(%zu of %llu; see --limit)\n", got, static_cast<unsigned long long>(total));
  }
  return ExitCode::ok;
}

}  // namespace

const std::span<const ListCommand> list_commands = commands;

tl::expected<json, control::CallError> call_daemon(const Options& options,
                                                   const std::string& method, json params) {
  auto client = control::Client::connect(options.socket, options.timeout());
  if (!client) {
    return tl::unexpected(client.error());
  }
  auto result = client->call(method, std::move(params));
  if (result && !result->is_object()) {
    return tl::unexpected(control::CallError{
        control::CallError::Kind::failed, "the daemon's answer is no object", {}});
  }
  return result;
}

ExitCode show_list(const Options& options, const ListCommand& command, const ListOptions& list) {
  const auto listing = fetch(options, command.method, list);
  return listing ? print_list(options, *listing, command.columns) : listing.error();
}

ExitCode show_engines(const Options& options, const ListOptions& list) {
  const auto listing = fetch(options, "engine.list", list);
  if (!listing) {
    return listing.error();
  }
  if (options.json) {
    print_json(listing->rows);
    return ExitCode::ok;
  }
  json rows = json::array();
  for (const json& engine : listing->rows) {
    const json figures = engine.value("figures", json::object());
    for (const auto& [figure, value] : figures.items()) {
      rows.push_back({{"switch", engine.value("switch", "")},
                      {"engine", engine.value("engine", "")},
                      {"figure", figure},
                      {"value", value}});
    }
  }
  print_rows(rows, engine_columns);
  return ExitCode::ok;
}

ExitCode show_stalled(const Options& options, const ListOptions& list) {
  const auto listing = fetch(options, "stalled.list", list);
  if (!listing) {
    return listing.error();
  }
  if (listing->rows.empty() && !options.json) {
    std::printf("nothing is stalled\n");
    return ExitCode::ok;
  }
  return print_list(options, *listing, stalled_columns);
}

ExitCode show_drops(const Options& options, bool all) {
  const auto result = call_daemon(options, "drop.list", json::object());
  if (!result) {
    return report(options, result.error());
  }
  json rows = json::array();
  for (const json& row : rows_of(*result, {})) {
    if (all || row.value("packets_total", std::uint64_t{0}) != 0) {
      rows.push_back(row);
    }
  }
  if (options.json) {
    print_json(rows);
  } else if (rows.empty()) {
    std::printf("nothing was dropped (--all lists every reason)\n");
  } else {
    print_rows(rows, drop_columns);
  }
  return ExitCode::ok;
}

ExitCode show_counters(const Options& options) {
  const auto result = call_daemon(options, "counter.list", json::object());
  if (!result) {
    return report(options, result.error());
  }
  const json all = result->value("all", json::object());
  const bool balanced = all.value("balanced", false);
  if (options.json) {
    print_json({{"switches", rows_of(*result, {})}, {"all", all}, {"balanced", balanced}});
    return ExitCode::ok;
  }
  print_rows(rows_of(*result, {}), counter_columns);
  const auto figure = [&](const char* key) { return plain(all.value(key, json(nullptr))); };
  std::printf("\nreceived %s = forwarded %s + absorbed %s + dropped %s\n",
              figure("received_packets_total").c_str(), figure("forwarded_packets_total").c_str(),
              figure("absorbed_packets_total").c_str(), figure("dropped_packets_total").c_str());
  std::printf("originated %s = sent %s + lost %s\nbalanced: %s\n",
              figure("originated_packets_total").c_str(), figure("sent_packets_total").c_str(),
              figure("lost_packets_total").c_str(), balanced ? "yes" : "NO");
  return ExitCode::ok;
}

ExitCode show_status(const Options& options) {
  const auto status = call_daemon(options, "daemon.status", json::object());
  if (!status) {
    return report(options, status.error());
  }
  if (options.json) {
    print_json(*status);
    return ExitCode::ok;
  }
  const auto number = [&](const char* key) { return status->value(key, 0.0); };
  std::printf("tributaryd %s, up %s\n", status->value("version", "?").c_str(),
              seconds_for_people(number("uptime_seconds")).c_str());
  std::printf("switches   %.0f\n", number("switches"));
  std::printf("memory     %s, %s\n", bytes_for_people(number("resident_bytes")).c_str(),
              status->value("hugepages", false) ? "hugepages" : "no hugepages");
  std::printf("buffers    %.0f of %.0f free\n", number("packet_buffers_free"),
              number("packet_buffers"));
  std::printf("idle       %s\n", status->value("idle", "?").c_str());
  std::printf("log level  %s\n\n", status->value("log_level", "?").c_str());
  constexpr Column core_columns[] = {
      {"CPU", "/cpu", Show::plain, true},
      {"LOOPS", "/loops_total", Show::plain, true},
      {"BUSY", "/busy_loops_total", Show::plain, true},
      {"SLEEPS", "/sleeps_total", Show::plain, true},
      {"HANDED-OVER", "/handed_over_packets_total", Show::plain, true},
      {"HANDOVER-FULL", "/handover_full_packets_total", Show::plain, true},
  };
  print_rows(status->value("cores", json::array()), core_columns);
  return ExitCode::ok;
}

}  // namespace tributary::ctl
