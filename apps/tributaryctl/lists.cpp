// SPDX-License-Identifier: BSD-3-Clause
#include "lists.h"

#include <algorithm>
#include <cstdio>
#include <utility>
#include <vector>

#include "control/params.h"
#include "control/words.h"
#include "rows.h"

namespace tributary::ctl {
namespace {

using nlohmann::json;

constexpr std::uint64_t switches_max = 10000;

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

// A Listing has the rows that were asked for.
struct Listing {
  json rows;
  std::uint64_t total = 0;  // of the switch, or of all
  bool cut = false;         // there may be more of the switch, among those that the daemon left out
};

// Fails for a switch that does not exist: an empty list would say that all is well with it.
tl::expected<Listing, ExitCode> fetch(const Options& options, const std::string& method,
                                      const ListOptions& list) {
  // The daemon's limit is of the rows of all switches.
  const bool of_one = !list.switch_name.empty();
  const auto result = call_daemon(
      options, method,
      {{"limit", of_one ? std::uint64_t{control::Params::rows_max} : std::uint64_t{list.limit}}});
  if (!result) {
    return tl::unexpected(report(options, result.error()));
  }
  Listing listing{rows_of(*result, list.switch_name)};
  const auto total = result->value("rows_total", std::uint64_t{0});
  listing.total = of_one ? listing.rows.size() : total;
  listing.cut = of_one && (*result)["rows"].size() < total;
  if (listing.rows.empty() && of_one) {
    if (const auto known = check_switch(options, list.switch_name); !known) {
      return tl::unexpected(known.error());
    }
  }
  while (listing.rows.size() > list.limit) {
    listing.rows.erase(listing.rows.size() - 1);
  }
  return listing;
}

// Programs read the rows on standard output, and nothing else.
void say_what_is_missing(const Options& options, const Listing& listing, const char* what = "") {
  std::FILE* const to = options.json ? stderr : stdout;
  if (listing.rows.size() < listing.total) {
    std::fprintf(to, "(%zu of %llu%s; see --limit)\n", listing.rows.size(),
                 static_cast<unsigned long long>(listing.total), what);
  }
  if (listing.cut) {
    std::fprintf(to, "(of the first %zu rows of all switches: there may be more)\n",
                 control::Params::rows_max);
  }
}

ExitCode print_list(const Options& options, const Listing& listing,
                    std::span<const Column> columns) {
  if (options.json) {
    print_json(listing.rows);
  } else {
    print_rows(listing.rows, columns);
  }
  say_what_is_missing(options, listing);
  return ExitCode::ok;
}

}  // namespace

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
    say_what_is_missing(options, *listing);
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
  say_what_is_missing(options, *listing, " engines");
  return ExitCode::ok;
}

ExitCode show_stalled(const Options& options, const ListOptions& list) {
  const auto listing = fetch(options, "stalled.list", list);
  if (!listing) {
    return listing.error();
  }
  if (listing->rows.empty() && !listing->cut && !options.json) {
    std::printf("nothing is stalled\n");
    return ExitCode::ok;
  }
  return print_list(options, *listing, stalled_columns);
}

ExitCode show_handlers(const Options& options) {
  const auto listing = fetch(options, "handler.list", ListOptions{});
  if (!listing) {
    return listing.error();
  }
  if (listing->rows.empty() && !options.json) {
    std::printf("no handler is loaded\n");
    return ExitCode::ok;
  }
  return print_list(options, *listing, handler_columns);
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
  std::printf("handlers   %.0f\n", number("handlers"));
  std::printf("idle       %s\n", status->value("idle", "?").c_str());
  std::printf("log level  %s\n", status->value("log_level", "?").c_str());
  if (const double dropped = number("log_dropped_total"); dropped > 0) {
    std::printf("log        %.0f messages were dropped: nobody read them in time\n", dropped);
  }
  std::printf("\n");
  print_rows(status->value("cores", json::array()), core_columns);
  return ExitCode::ok;
}

}  // namespace tributary::ctl
